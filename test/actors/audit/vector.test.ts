// The vector of the contract, to the letter: records, links, root, verifier key and checkpoint.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldRoot, RightEdge } from '../../../actors/audit/merkle.ts';
import {
  checkpointText,
  createNoteSigner,
  openCheckpoint,
  readVkey,
  signNote,
} from '../../../actors/audit/note.ts';
import { firstLink, linkOf, readAuditRecord } from '../../../actors/audit/record.ts';
import { type PreparedRecord, prepareRecord } from '../../../db/organization-audit/prepared.ts';

const origin = 'tollgate.example/audit/42';
const actor = { type: 'user' as const, id: 'usr_7' };
const result = 'ok' as const;
const acts = [
  {
    action: 'org.settings.update',
    target: { type: 'organization', id: '42' },
    details: { monthly_spend_limit_micros: [null, 5_000_000] },
  },
  {
    action: 'org.member.invite',
    target: { type: 'invitation', id: 'inv_1' },
    details: { email: 'a@example.com' },
  },
  { action: 'kb.delete', target: { type: 'kb', id: 'kb_9' }, details: {} },
];

function textOf(prepared: PreparedRecord, seq: number, at: string, prev: string): string {
  const { beforeAt, beforePrev, beforeSeq, afterSeq } = prepared;
  return `${beforeAt}${at}${beforePrev}${prev}${beforeSeq}${seq}${afterSeq}`;
}

test("the contract's vector", () => {
  const edge = new RightEdge();
  let prev = firstLink;
  acts.forEach((act, index) => {
    const salt = Buffer.alloc(16, 0x11 * index);
    const prepared = prepareRecord(42, { actor, result, ...act }, salt);
    const text = textOf(prepared, index + 1, `2026-11-20T15:00:0${index}.000Z`, prev);
    assert.ok(readAuditRecord(text) !== null, text);
    const link = linkOf(text);
    edge.push(link);
    prev = link.toString('hex');
  });
  assert.equal(prev, '7fcee386b11a3d66e832ba7090341bd01727d988ef04e498101d3829739afe71');
  assert.equal(edge.root().toString('base64'), 'ym4WxL5Bl44GimdhirZ01zq8kvbshHc2iXKhBAtqYEg=');
  assert.deepEqual(foldRoot(edge.hashes()), edge.root());

  const signer = createNoteSigner(origin, Buffer.alloc(32, 7));
  const vkey = `${origin}+fbb232a7+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs`;
  assert.equal(signer.verifier.vkey, vkey);
  const checkpoint = { origin, size: 3, root: edge.root() };
  const note = signNote(checkpointText(checkpoint), [signer]);
  const verifier = readVkey(vkey);
  assert.ok(verifier !== null);
  const opened = openCheckpoint(note, [verifier]);
  assert.deepEqual(opened, { ...checkpoint, signedBy: ['fbb232a7'], unknown: 0 });
  assert.equal(openCheckpoint(note.replace('\n3\n', '\n2\n'), [verifier]), null);
});
