// What the readers of every family are held to: bodies that come cut anywhere mean the same, and
// the shortcut of the decoder never shows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelEvent, TextRun } from '../../../media/model/events.ts';
import { isRun, singles } from '../../../media/model/text-run.ts';
import type { StreamReader } from '../../../media/providers/generation/contract.ts';
import { fc } from '../../harness/properties.ts';
import { sampled } from '../../harness/sample.ts';
import { testSeed } from '../../harness/seed.ts';

/** One body of a family, and what it means. */
export interface Fixture {
  name: string;
  body: string;
  events: ModelEvent[];
}

/** All that a reader says of a body that comes in these pieces, each text by itself. */
export function readWith(reader: StreamReader, pieces: readonly Uint8Array[]): ModelEvent[] {
  const events = [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()];
  for (const event of events) if (isRun(event)) assertRun(event.text, event.run);
  return singles(events);
}

function assertRun(text: string, { pieces, framed }: TextRun): void {
  assert.ok(pieces.length > 1 && pieces.every((piece) => piece !== ''));
  assert.equal(pieces.join(''), text);
  if (framed === null) return;
  const { raw, open, close } = framed;
  assert.equal(pieces.map((piece) => open + piece + close).join(''), raw);
}

/** In the suite; in the long run every byte is one. */
const CUTS = 150;

/** One test a fixture. */
export function testEveryCut(fixtures: readonly Fixture[], createReader: () => StreamReader): void {
  for (const fixture of fixtures) {
    const bytes = Buffer.from(fixture.body);
    const means = (pieces: readonly Uint8Array[], how: string) =>
      assert.deepEqual(readWith(createReader(), pieces), fixture.events, how);
    const cuts = Array.from({ length: bytes.length - 1 }, (_, index) => index + 1);
    test(`reads ${fixture.name}, whole and cut anywhere (seed ${testSeed})`, () => {
      means([bytes], 'whole');
      for (const cut of sampled(cuts, CUTS)) {
        means([bytes.subarray(0, cut), bytes.subarray(cut)], `cut at byte ${cut}`);
      }
      const single = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
      means(single, 'byte by byte');
    });
  }
}

/** Where random bodies of about this many bytes are cut. */
export function cutsOf(bytesMost: number): fc.Arbitrary<number[]> {
  return fc.array(fc.nat(bytesMost), { maxLength: 12 });
}

export function piecesOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...new Set(cuts.filter((cut) => cut < bytes.length))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

/** `letters`: what the events of this family are made of. */
export function testNoise(letters: readonly string[], createReader: () => StreamReader): void {
  const noise = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc
      .string({ unit: fc.constantFrom(...letters) })
      .map((value) => new Uint8Array(Buffer.from(value))),
  );
  test('random bytes never throw and mean the same in any pieces', () => {
    fc.assert(
      fc.property(noise, fc.nat(200), (bytes, cut) => {
        const whole = readWith(createReader(), [bytes]);
        const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)];
        assert.deepEqual(readWith(createReader(), pieces), whole);
        assert.equal(whole.at(-1)?.type, 'failure');
      }),
      { numRuns: 2_000 },
    );
  });
}
