// What every dialect's stream does with text: escapes it, and puts it between what never changes.
import type { ModelEvent } from '../events.ts';

/** The inside of a JSON string. */
export function escapeText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** An event of text as the format's own events: one for each of its deltas. */
export function textDeltas(
  { text, plain, run }: ModelEvent & { type: 'text' },
  open: string,
  close: string,
): string {
  if (run === undefined) return open + (plain ? text : escapeText(text)) + close;
  const { pieces, framed } = run;
  if (framed?.open === open && framed.close === close) return framed.raw;
  let deltas = '';
  for (const piece of pieces) {
    deltas += open + piece;
    deltas += close;
  }
  return deltas;
}
