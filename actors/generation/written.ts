// What a model itself has written of an answer, as texts to be counted: where no usage is reported.
import type { Answer } from '../../media/model/answer.ts';
import type { AnswerItem } from '../../media/model/answer-item.ts';

/** What calls without a neutral form are made with, whatever they are; results are others'. */
const writtenNames = ['input', 'arguments', 'code', 'action', 'operation'] as const;

/** By its price. */
export function writtenTexts({ items }: Answer): { output: string; reasoning: string } {
  let output = '';
  let reasoning = '';
  for (const item of items) {
    if (item.type === 'tool_call') output += item.name + item.arguments;
    else if (item.type === 'reasoning') reasoning += item.text;
    else output += item.type === 'native' ? nativeText(item) : item.text;
  }
  return { output, reasoning };
}

/** Until it has ended, its deltas are all there is of it. */
function nativeText({ value, stages }: AnswerItem & { type: 'native' }): string {
  if (stages?.ended === false) return stages.told.map(({ delta }) => textOf(delta)).join('');
  return writtenNames
    .map((name) => {
      const member = value[name];
      if (typeof member !== 'object' || member === null) return textOf(member);
      // What a search has found stands beside what was searched for.
      const { sources: _found, ...written } = member as Record<string, unknown>;
      return JSON.stringify(written);
    })
    .join('');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
