// The routes of an organization's audit: who may read it, what they answer, and an export through
// them that the verifier takes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AuditVerifier } from '../../../actors/audit/verify.ts';
import { appendMany, makeOrganization, type Organization } from '../../actors/audit/stage.ts';
import type { TestAccount } from '../../harness/account.ts';
import { Contract } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let bed: Testbed;
let contract: Contract;
let owner: TestAccount;
let organization: Organization;
before(async () => {
  bed = await openTestbed();
  contract = await Contract.load(bed.url);
  owner = await bed.account();
  organization = await makeOrganization(bed.sql, owner.accountId);
  await join(owner, 'owner');
  await appendMany(bed.sql, organization, 700);
});
after(() => bed?.close());

async function join({ accountId }: TestAccount, role: string): Promise<void> {
  const membership = `${accountId}_${organization.id}`;
  await bed.sql`
    INSERT INTO accounts (id, role, kind, person_id, organization_id)
    VALUES (${membership}, 'user', 'member', ${accountId}, ${organization.id})`;
  await bed.sql`
    INSERT INTO organization_members (organization_id, user_id, account_id, role)
    VALUES (${organization.id}, ${accountId}, ${membership}, ${role})`;
}

function call(path: string, by: TestAccount = owner, method = 'GET', id = organization.id) {
  const headers = { 'x-svc-session': by.sessionToken };
  return contract.call(method, `/api/enterprise/organizations/${id}/audit${path}`, { headers });
}

const codeOf = (json: Record<string, unknown>) =>
  (json.error as { code: string } | undefined)?.code;

test('owners and administrators read it, and nobody else', async () => {
  const [admin, manager, stranger] = [
    await bed.account(),
    await bed.account(),
    await bed.account({ admin: true }),
  ];
  await join(admin, 'admin');
  await join(manager, 'manager');
  const paths = ['', '/1', '/1/proof', '/checkpoints', '/keys', '/export'];
  for (const path of paths) {
    assert.equal((await call(path, manager)).status, 403, path);
    assert.equal((await call(path, stranger)).status, 404, path);
  }
  assert.equal((await call('', admin)).status, 200);
  assert.equal((await call('/checkpoints', manager, 'POST')).status, 403);
  for (const id of [1, 2 ** 31, Number.NaN]) {
    assert.equal((await call('', owner, 'GET', id)).status, 404);
  }
  await bed.sql`
    UPDATE organizations SET status = 'closed', closed_at = now() WHERE id = ${organization.id}`;
  assert.equal((await call('', admin)).status, 403);
  assert.equal((await call('')).status, 200);
  await bed.sql`
    UPDATE organizations SET status = 'active', closed_at = NULL WHERE id = ${organization.id}`;
});

test('records are listed newest first, page by page, and filtered', async () => {
  const seqs: number[] = [];
  let cursor: unknown = null;
  do {
    const query = cursor === null ? '?limit=100' : `?limit=100&cursor=${String(cursor)}`;
    const { json } = await call(query);
    seqs.push(...(json.data as { seq: number }[]).map(({ seq }) => seq));
    cursor = json.next_cursor;
  } while (cursor !== null);
  assert.deepEqual(
    seqs,
    Array.from({ length: 700 }, (_, index) => 700 - index),
  );
  const joins = await call('?action=member.join&limit=3');
  const actions = (joins.json.data as { action: string }[]).map(({ action }) => action);
  assert.deepEqual(new Set(actions), new Set(['member.join']));
  assert.deepEqual((await call('?actor=acc_nobody')).json.data, []);
  assert.deepEqual((await call('?to=2000-01-01')).json.data, []);
  assert.equal((await call('?from=2000-01-01&limit=2')).json.next_cursor === null, false);
  assert.equal((await call('?from=2000-02-31')).status, 400);
  const one = await call('/5');
  assert.equal((one.json.record as { seq: number }).seq, 5);
  assert.equal((await call('/701')).status, 404);
  assert.equal((await call('/x')).status, 404);
});

test('a checkpoint is made on request, ten an hour, and proves what it has', async () => {
  const early = await call('/700/proof');
  assert.deepEqual([early.status, codeOf(early.json)], [409, 'invalid_state']);
  const made = await call('/checkpoints', owner, 'POST');
  assert.equal(made.status, 201);
  assert.equal((made.json.checkpoint as { size: number }).size, 701);
  const proof = await call('/700/proof');
  assert.match(proof.text, /^c2sp\.org\/tlog-proof@v1\nindex 699\n/);
  assert.equal((await call('/702/proof')).status, 404);
  const asked = Array.from({ length: 12 }, () => call('/checkpoints', owner, 'POST'));
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 201).length, 9);
  assert.equal(statuses.filter((status) => status === 429).length, 3);
  const { json } = await call('/checkpoints?limit=4');
  assert.deepEqual(
    (json.data as { size: number }[]).map(({ size }) => size),
    [710, 709, 708, 707],
  );
});

test('an export verifies, with what is kept outside, four an hour', async () => {
  const { json } = await call('/keys');
  const [{ vkey }] = json.keys as [{ vkey: string }];
  const listed = await call('/checkpoints?limit=1');
  const [{ note, size }] = listed.json.data as [{ note: string; size: number }];
  const verify = (text: string) => {
    const verifier = new AuditVerifier({ vkeys: [vkey], notes: [note] });
    for (const line of text.split('\n').slice(0, -1)) verifier.line(line);
    return verifier.finish();
  };
  assert.equal((await call('/export?to_seq=10000')).status, 400);
  assert.equal((await call('/export?from_seq=5&to_seq=4')).status, 400);
  assert.equal((await call('/export?checkpoint_size=3')).status, 400);
  const whole = await call('/export');
  const report = verify(whole.text);
  assert.deepEqual([report.exit, report.records, report.completeness], [0, 711, 'ok']);
  const part = await call(`/export?from_seq=711&checkpoint_size=${size}`);
  assert.deepEqual([verify(part.text).exit, verify(part.text).records], [0, 2]);
  await call('/export?from_seq=300&to_seq=301');
  await call('/export');
  assert.equal((await call('/export')).status, 429);
});

test('the verifier is served', async () => {
  const reply = await fetch(`${bed.url}/docs/tollgate-audit.mjs`);
  assert.match(reply.headers.get('content-type') ?? '', /^text\/javascript/);
  assert.match(await reply.text(), /tollgate-audit verify FILE/);
});

test('an MCP server that the policy blocks is not looked at, and both are recorded', async () => {
  const add = (url: string) =>
    contract.call('POST', '/api/me/mcp-servers', {
      headers: {
        'x-svc-session': owner.sessionToken,
        'x-svc-organization': String(organization.id),
      },
      body: { name: 'Docs', url },
    });
  assert.equal((await add('https://mcp.example.com/mcp')).status, 201);
  await bed.sql`
    UPDATE organizations SET settings_revision = settings_revision + 1,
      settings = '{"mcp_policy": "allowlist", "allowed_mcp_domains": ["mcp.example.org"]}'
    WHERE id = ${organization.id}`;
  // No cache has to be told: the row decides.
  const blocked = await add('https://nobody.invalid/mcp');
  assert.deepEqual([blocked.status, codeOf(blocked.json)], [403, 'policy_blocked']);
  assert.match(blocked.text, /"rule":"mcp_policy"/);
  const { json } = await call('?action=mcp.add');
  const told = (json.data as { result: string; details: object }[]).map((each) => [
    each.result,
    each.details,
  ]);
  assert.deepEqual(told, [
    ['blocked', { host: 'nobody.invalid', rule: 'mcp_policy' }],
    ['ok', { host: 'mcp.example.com' }],
  ]);
});
