// Random runs of what only a client of Responses is told: parts with their borders, and items
// without a neutral form from their announcement to their end.
import type { ModelEvent } from '../../media/model/events.ts';
import { fc } from './properties.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.constantFrom('', ' token', '"\\\n'),
);
const members = fc.constantFrom<Record<string, unknown> | null>(null, {}, { phase: 'commentary' });
const logprobs = fc.array(
  fc.tuple(text, fc.integer()).map(([token, logprob]) => ({ token, logprob })),
  { maxLength: 2 },
);
const format = 'responses' as const;

const message: fc.Arbitrary<ModelEvent[]> = fc
  .record({ item: members, value: text, logprobs, ends: fc.boolean(), title: text })
  .map(({ item, value, logprobs: told, ends, title }) => [
    { type: 'part', kind: 'output_text', item },
    { type: 'text', text: value, plain: false, logprobs: told },
    { type: 'text', text: value, plain: false },
    {
      type: 'citation',
      citation: { url: '', title, start: 0, end: null, native: { format, value: { title } } },
    },
    ...(ends
      ? [
          { type: 'part_logprobs' as const, done: told, part: [title] },
          { type: 'item_members' as const, members: { phase: title } },
        ]
      : []),
  ]);

const refusal: fc.Arbitrary<ModelEvent[]> = fc.tuple(members, text).map(([item, value]) => [
  { type: 'part', kind: 'refusal', item },
  { type: 'refusal', text: value },
]);

const reasoning: fc.Arbitrary<ModelEvent[]> = fc
  .record({ item: members, first: text, second: text, ends: fc.boolean() })
  .map(({ item, first, second, ends }) => [
    { type: 'part', kind: 'summary_text', item },
    { type: 'reasoning', text: first },
    { type: 'part', kind: 'reasoning_text', item: null },
    { type: 'reasoning', text: second },
    ...(ends
      ? [{ type: 'reasoning_end' as const, format, value: { id: 'rs_1', encrypted_content: 'x' } }]
      : []),
  ]);

/** Their numbers are given by `numberedNatives`. */
const native: fc.Arbitrary<ModelEvent[]> = fc
  .record({
    type: fc.constantFrom('web_search_call', 'custom_tool_call', 'function_call'),
    told: fc.array(text, { maxLength: 3 }),
    ends: fc.boolean(),
  })
  .map(({ type, told, ends }) => [
    { type: 'native_begin', index: 0, format, value: { type, id: 'up_1' } },
    ...told.map((value, at): ModelEvent => {
      const event = { type: `response.${type}.delta`, item_id: null, output_index: null, at };
      return { type: 'native_event', index: 0, format, value: { ...event, delta: value } };
    }),
    ...(ends ? [{ type: 'native' as const, index: 0, format, value: { type, id: 'up_1' } }] : []),
  ]);

export const borderedRun: fc.Arbitrary<ModelEvent[]> = fc.oneof(
  message,
  refusal,
  reasoning,
  native,
);

/** Native items are counted from 0 as they begin; what follows a beginning is of that item. */
export function numberedNatives<Told extends object>(told: readonly (Told | ModelEvent)[]): Told[] {
  let count = 0;
  return told.map((entry) => {
    const { type, index } = entry as { type?: string; index?: number };
    if (type === 'native_begin') count += 1;
    const isOfOne = type?.startsWith('native') === true && index !== undefined;
    return (isOfOne ? { ...entry, index: count - 1 } : entry) as Told;
  });
}
