// What is fitted for each family, as the API reference tells it. The providers' README has the same
// table, and a test holds the two together.

const head = ['What', 'Chat Completions', 'Responses', 'Messages', 'Gemini'] as const;

type Row = readonly [string, string, string, string, string];

const rows: readonly Row[] = [
  [
    'patterns in schemas',
    'those that Python compiles, elsewhere than at the vendor those of a grammar with both anchors',
    'as Chat Completions',
    'those of JavaScript, elsewhere than at the vendor those of a grammar',
    'those of RE2',
  ],
  [
    'schemas of tools',
    'one object at the top, lists with `items`; strict only where the vendor takes it so',
    'as Chat Completions',
    'one object at the top, arguments with names of `[a-zA-Z0-9_.-]{1,64}`',
    'one object, references and `allOf` written out, `const`, open bounds and type lists rewritten',
  ],
  [
    'tools that take free text (`custom`)',
    'as they are at the vendor, elsewhere a function of one text, for its own clients as well',
    'as they are',
    'a function of one text',
    'a function of one text',
  ],
  [
    'deferred tools, references to tools',
    'declared at once, words',
    'declared at once but for its own clients, words',
    'as they are for its own clients',
    'declared at once, words',
  ],
  [
    'tools in the input (`additional_tools`)',
    'declared at once',
    'as they are',
    'declared at once',
    'declared at once',
  ],
  [
    'names of tools',
    '64 of `[a-zA-Z0-9_-]`, else shortened with a hash',
    'as Chat Completions',
    '128 of `[a-zA-Z0-9_-]`, else shortened with a hash',
    '64 of `[a-zA-Z0-9_.:-]` after a letter or `_`, else shortened with a hash',
  ],
  [
    'ids of calls',
    '40 characters, for models of Mistral 9 letters and digits',
    '64 characters',
    '64 of `[a-zA-Z0-9_-]`',
    'as they are',
  ],
  [
    '`developer`',
    '`system`, elsewhere than at the vendor also for its own clients',
    'as it is',
    '`system`, above the messages',
    '`systemInstruction`',
  ],
  [
    'instructions between turns',
    'in place, for models of Mistral as words of the user; or as the operator says',
    'as Chat Completions',
    'in place for its own clients, else above the messages; or as the operator says',
    'in front',
  ],
  [
    'order of roles',
    'behind results models of Mistral are told an answer, and then the words of the user',
    'as it is',
    'results and words are one message',
    'results and words are one message',
  ],
  [
    'strict servers',
    'few members of the body and of messages, where the vendor or the operator says so',
    'as they are',
    'as they are',
    'as they are',
  ],
  [
    'ceiling of the answer',
    'by the name that the operator says, else that of the model, else that of the client',
    '`max_output_tokens`, 16 at least',
    '`max_tokens`',
    '`maxOutputTokens`',
  ],
  [
    'sampling',
    'left out for models that reason',
    'left out for models that reason',
    '`top_p` beside `temperature` left out since 4.1, all of it since 4.7 and while it thinks ' +
      'for other clients',
    'penalties left out since 2.5',
  ],
  [
    'settings without a like, left out and named',
    '`top_k`; elsewhere than at the vendor `verbosity` and labels',
    '`seed`, `top_k`; at the vendor penalties',
    '`seed`, penalties, `verbosity`, labels; `logprobs` are refused',
    '`parallel_tool_calls`, `verbosity`, labels; `logprobs` are refused but where models tell ' +
      'them',
  ],
  [
    'media types',
    'that of the first bytes, for its own clients as well',
    'that of the first bytes, for its own clients as well',
    'that of the first bytes, for its own clients as well',
    'that of the first bytes',
  ],
];

const ownClients =
  'Schemas and names of a client of the same format are told as it wrote them; ids of calls are ' +
  'changed for it where the vendor or the model is known to refuse them. Calls come back by the ' +
  'names that the client gave. Sampling that is left out is named in `x-svc-dropped-members`. ' +
  'What a provider refuses all the same is told as `param`, and in the message: the place in the ' +
  "client's own body, as far as it is certain.";

/** The table in Markdown. */
export const fittingTable: string = [
  lineOf(head),
  lineOf(head.map(() => '---')),
  ...rows.map(lineOf),
].join('\n');

/** For the API reference: the table and what holds for all of it. */
export const fittingReference =
  'A request is told to the model that answers it in a form that its provider is not known to ' +
  `refuse:\n\n${fittingTable}\n\n${ownClients}`;

function lineOf(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
