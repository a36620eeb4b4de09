// What a simulated model says of a page that it has to judge: by rules, from the words that
// questions quote. A directive in the page commands it, and it obeys.
import type { Judging } from './directive.ts';
import { isMembers } from './members.ts';

interface Asked {
  id: string;
  question: string;
}

/** The answer to a schema of answers with quotes; null: the schema asks for something else. */
export function judgePage(
  texts: readonly (string | null)[],
  schema: unknown,
  judging: Judging,
): Record<string, unknown> | null {
  if (!isMembers(schema) || !isMembers(schema.properties)) return null;
  const answers = Object.values(schema.properties);
  const isAnswer = (one: unknown) =>
    isMembers(one) && isMembers(one.properties) && 'quote' in one.properties;
  if (answers.length === 0 || !answers.every(isAnswer)) return null;
  const said = texts.findLast((text) => text !== null) ?? '';
  const page = /"(?:[^"\\]|\\.)*"/.exec(said.slice(said.indexOf('The text of the page:')));
  const asked = said.slice(said.lastIndexOf('The questions:') + 'The questions:'.length);
  const text = page === null ? '' : (JSON.parse(page[0]) as string);
  const questions = JSON.parse(asked) as Asked[];
  return Object.fromEntries(questions.map((one) => [one.id, answerOf(one, text, judging)]));
}

const quoteReach = 30;

function answerOf({ question }: Asked, text: string, judging: Judging) {
  const words = [...question.matchAll(/"([^"]+)"/g)].map(([, word = '']) => word.toLowerCase());
  const lower = text.toLowerCase();
  const at = lower.indexOf(words[0] ?? '\u0000');
  const isThere = words.length > 0 && words.every((word) => lower.includes(word));
  const around = text.slice(Math.max(0, at - quoteReach), at + quoteReach);
  const right = isThere ? { answer: 'yes', quote: around } : { answer: 'no', quote: null };
  const claimed = { answer: 'yes', quote: isThere ? around : text.slice(0, 2 * quoteReach) };
  switch (judging) {
    case 'right':
      return right;
    case 'yes':
      return claimed;
    case 'no':
      return { answer: 'no', quote: null };
    // It sees through questions of which the answer is known.
    case 'clever':
      return question.startsWith('Does the word') ? right : claimed;
  }
}
