// Text deltas that came in one read, as one event: what is done for each event of an answer is then
// done once for all of them. A reader may tell texts so; everyone counts and tells them one by one.
import type { FramedTexts, ModelEvent, TextRun } from './events.ts';

type TextEvent = ModelEvent & { type: 'text' };

/** The pieces as one event. */
export function runEvent(pieces: readonly string[], framed: FramedTexts | null): TextEvent {
  let text = '';
  for (const piece of pieces) text += piece;
  return { type: 'text', text, plain: true, run: { pieces, framed } };
}

export function isRun(event: ModelEvent): event is TextEvent & { run: TextRun } {
  return event.type === 'text' && event.run !== undefined;
}

/** How many deltas of the provider the event stands for. */
export function deltasOf(event: ModelEvent): number {
  return isRun(event) ? event.run.pieces.length : 1;
}

/** Its deltas: itself, where it is no run. */
export function piecesOf({ text, run }: TextEvent): readonly string[] {
  return run?.pieces ?? [text];
}

export function countDeltas(events: readonly ModelEvent[]): number {
  let count = 0;
  for (const event of events) count += deltasOf(event);
  return count;
}

/** The same events, each text by itself; the list itself where all are. */
export function singles<List extends readonly ModelEvent[]>(events: List): List | ModelEvent[] {
  if (!events.some(isRun)) return events;
  return events.flatMap((event): ModelEvent | ModelEvent[] => {
    if (!isRun(event)) return event;
    return event.run.pieces.map((text) => ({ type: 'text', text, plain: true }));
  });
}
