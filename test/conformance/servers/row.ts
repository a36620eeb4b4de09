// What a row of the table of servers is, and what rows are made of. All play one task: the model
// thinks, calls `look`, gets the result, and says `done`.
export type Members = Record<string, unknown>;

export interface ServerRow {
  name: string;
  /** Where its public documentation, or a report, says so. */
  source: string;
  /** The deltas of its first turn, in order. A whole answer is all of them joined. */
  deltas: readonly Members[];
  /** Why it refuses the turn that it gets back, an assistant's message; null: it does not. */
  wants(turn: Members): string | null;
  /** Why it refuses a request as a whole, whatever its turns; null: it does not. */
  refuses?(body: Members): string | null;
  /** The error that goes with a refusal; the usual object if left out. */
  error?(message: string): unknown;
  /** What a client of another format is shown of the thoughts. */
  shown: string;
  /** How it names the model, where its rules go by that; `thinker` if left out. */
  model?: string;
  /** What an operator says of it. */
  quirks?: Readonly<Record<string, string | boolean>>;
  /** The status of a refusal; 400 if left out. */
  status?: number;
  /** What its last chunk, and the choice in it, have besides. */
  end?: { chunk?: Members; choice?: Members };
  /** It reports usage only where it is asked to. */
  isUsageAsked?: true;
  /** Ends and errors in words of its own. */
  says?: readonly Said[];
}

/** One reply that is no answer to the task, and what a client is told of it. */
export interface Said {
  status: number;
  /** Text is a stream as it is, an object the whole body. */
  body: string | Members;
  /** The reason of the end; or status and code of the error, and the place that it names. */
  told: string;
}

/** The call that every row makes, in one piece or in two. */
export function called(
  beside: Members = {},
  pieces: readonly string[] = ['{"at":', '"sea"}'],
  id = 'call_1',
): Members[] {
  const [first = '', ...others] = pieces;
  const begun = { name: 'look', arguments: first };
  return [
    { tool_calls: [{ index: 0, id, type: 'function', function: begun, ...beside }] },
    ...others.map((text) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
  ];
}

export const thoughts = ['I should', ' look "there"\n', 'first. 😀'];
export const thought = thoughts.join('');

/** The thoughts, in a member of the delta. */
export function thinking(member: string): Members[] {
  return thoughts.map((text) => ({ [member]: text }));
}

/** The same member with the same text, with a turn that has calls. */
export function wantsBack(member: string, text: string, refusal: string) {
  return (turn: Members) =>
    Array.isArray(turn.tool_calls) && turn[member] !== text ? refusal : null;
}

/** Whether both say the same, in whatever order their members stand. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, inner]) => [name, sorted(inner)]);
}
