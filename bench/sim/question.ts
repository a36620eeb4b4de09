// A question that names a tool and holds no directive: a model would call that tool, `get_weather`
// for "What is the weather in Oslo?". Suites of other people ask so.
import type { ForcedCall } from './answer.ts';

/**
 * The tool that the last of the user's texts asks for; null: none, or a directive decides.
 * `directiveAt`: its place among the texts, -1 without one.
 */
export function askedTool(
  texts: readonly (string | null)[],
  directiveAt: number,
  tools: readonly ForcedCall[],
): ForcedCall | null {
  if (directiveAt >= 0 || tools.length === 0) return null;
  const question = texts.findLast((text) => text !== null) ?? '';
  if (!question.includes('?')) return null;
  const said = new Set(question.toLowerCase().split(/[^a-z]+/));
  return tools.find(({ name }) => partsOf(name).some((part) => said.has(part))) ?? null;
}

/** Shorter ones are `get` and its like. */
const partLengthMin = 4;

function partsOf(name: string): string[] {
  const parts = name.split(/[^a-zA-Z]+|(?<=[a-z])(?=[A-Z])/).map((part) => part.toLowerCase());
  return parts.filter((part) => part.length >= partLengthMin);
}
