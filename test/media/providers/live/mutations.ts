// Messages as no server sends them: one that was changed at random, in its text.
import { fc } from '../../../harness/properties.ts';

const pieces = [
  ...['"', '\\', '\\"', '\\/', '\\u0041', '\n', '\u0000', ' ', ',', ':', '{', '}', '[', ']'],
  ...['é', '😀', '=', '==', 'A', '-', '0', '00', '1.5', 'null', 'true', ',"delta":"AAAA"'],
  ...['"type":"x",', ',"item_id":"item_2"', ',"event_id":"again"', '"data":"AAAA",'],
];

/** Changes up to two places of a text: cuts some characters and puts a piece there. */
export const mutation = fc
  .array(
    fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      cut: fc.nat(4),
      piece: fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 3 })),
    }),
    { maxLength: 2 },
  )
  .map((changes) => (text: string) => {
    let changed = text;
    for (const { at, cut, piece } of changes) {
      const position = Math.floor(at * changed.length);
      changed = changed.slice(0, position) + piece + changed.slice(position + cut);
    }
    return changed;
  });
