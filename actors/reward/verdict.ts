// What answers of a model come to. Pure. No answer rejects: all yes, twice, with quotes that are in
// the text, is an approval; anything else is looked at by an administrator.
import type { Question } from './questions.ts';

/** Why a round says nothing. */
export type RoundFault = 'schema' | 'control';

export type Round =
  | { ok: false; fault: RoundFault }
  /** Whether the answer is a yes that is proved, by the texts of the task's questions. */
  | { ok: true; proved: ReadonlyMap<string, boolean> };

interface Answer {
  answer: 'yes' | 'no';
  quote: string | null;
}

/** Shorter ones are in every text. */
const quoteLengthMin = 3;

/** One answer of the model. `text` is what it was shown. */
export function readRound(asked: readonly Question[], answerText: string, text: string): Round {
  const answers = readAnswers(asked, answerText);
  if (answers === null) return { ok: false, fault: 'schema' };
  const shown = plain(text);
  const proved = new Map<string, boolean>();
  for (const question of asked) {
    const answer = answers.get(question.id);
    if (answer === undefined) return { ok: false, fault: 'schema' };
    const isProved = answer.answer === 'yes' && isQuoted(question, answer.quote, shown);
    if (question.known === null) proved.set(question.text, isProved);
    else if ((question.known === 'yes') !== isProved || question.known !== answer.answer) {
      return { ok: false, fault: 'control' };
    }
  }
  return { ok: true, proved };
}

/** Null: it is not what was asked for. */
function readAnswers(
  asked: readonly Question[],
  answerText: string,
): ReadonlyMap<string, Answer> | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(answerText);
  } catch {
    return null;
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return null;
  const entries = Object.entries(parsed);
  const ids = new Set(asked.map(({ id }) => id));
  if (entries.length !== ids.size) return null;
  const answers = new Map<string, Answer>();
  for (const [id, value] of entries) {
    if (!ids.has(id) || !isAnswer(value)) return null;
    answers.set(id, value);
  }
  return answers;
}

function isAnswer(value: unknown): value is Answer {
  if (typeof value !== 'object' || value === null) return false;
  const { answer, quote, ...others } = value as Record<string, unknown>;
  if (Object.keys(others).length > 0) return false;
  return (answer === 'yes' || answer === 'no') && (quote === null || typeof quote === 'string');
}

function isQuoted({ terms }: Question, quote: string | null, shown: string): boolean {
  if (quote === null) return false;
  const quoted = plain(quote);
  if (quoted.length < quoteLengthMin || !shown.includes(quoted)) return false;
  return terms.some((term) => quoted.includes(plain(term)));
}

function plain(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
}

export interface Verdict {
  status: 'approved' | 'review';
  /** The share of questions that both rounds answered with a proved yes; null: none counted. */
  confidence: number | null;
  summary: string;
  checks: string[];
}

const faults: Readonly<Record<RoundFault, string>> = {
  schema: 'An answer of the model did not have the form that was asked for.',
  control: 'The model answered a question wrongly whose answer is known.',
};

/** Both rounds together. Summary and checks are our words: nothing of page or model is in them. */
export function judgeRounds(rounds: readonly [Round, Round]): Verdict {
  const [first, second] = rounds;
  if (!first.ok || !second.ok) {
    const fault = first.ok ? second : first;
    const words = fault.ok ? '' : faults[fault.fault];
    return { status: 'review', confidence: null, summary: reviewSummary, checks: [words] };
  }
  const texts = [...first.proved.keys()];
  const agreed = texts.filter((text) => first.proved.get(text) && second.proved.get(text));
  const confidence = texts.length === 0 ? null : agreed.length / texts.length;
  const checks = [
    `${agreed.length} of ${texts.length} questions were answered with yes twice, with quotes.`,
  ];
  const isGood = texts.length > 0 && agreed.length === texts.length;
  return {
    status: isGood ? 'approved' : 'review',
    confidence,
    summary: isGood ? 'The page does what the task asks for.' : reviewSummary,
    checks,
  };
}

export const reviewSummary = 'An administrator will look at the page.';
