// Conversations by chance for the properties of the optimizer: texts made of pieces that its steps
// look for, cut and mixed so that they meet in ways that nobody has thought of.
import { apiReply, numbered, serviceLog, sourceFile } from '../../../../bench/optimizer/outputs.ts';
import { createRandom } from '../../../../bench/optimizer/random.ts';
import type { ContentPart, Message } from '../../../../media/model/request.ts';
import { fc } from '../../../harness/properties.ts';

const PIECES: ((seed: number) => string)[] = [
  (seed) => serviceLog(createRandom(seed % 7), []),
  (seed) => sourceFile(createRandom(seed % 5), []),
  (seed) => numbered(sourceFile(createRandom(seed % 3), [])),
  (seed) => apiReply(createRandom(seed % 5), []),
  (seed) => `\`\`\`ts\n${sourceFile(createRandom(seed % 4), [])}\n\`\`\``,
  (seed) => `~~~~\n\`\`\`\n${'same line\n'.repeat(20)}   x   \n\n\n\n\`\`\`\n${seed}\n~~~~`,
  () => '```\nnever closed\n\n\n\n   spaces   here   ',
  () => '```',
  (seed) => 'the very same line of a log\n'.repeat(3 + (seed % 60)),
  () => `\u001b[32mgreen\u001b[0m \u001b]0;title\u0007done\n\u001b[31m\`\`\`\u001b[0m`,
  (seed) => Array.from({ length: 12 }, (_, step) => `pull ${step * 8}% ${seed}`).join('\n'),
  (seed) => `data:image/png;base64,${`Qz9${seed}aB`.repeat(400)}`,
  () => `a   b     c   \n\n\n\n\n    kept   indent   \n\t\n`,
  (seed) => `Ein Satz über ${seed}. `.repeat(40),
  () => '漢字の長い文。'.repeat(80),
  (seed) => `{"broken": [${seed}, `,
  () => '<!doctype html><script>x()</script><script type="application/ld+json">{"a":1}</script>',
];

const piece = fc
  .tuple(fc.nat(PIECES.length - 1), fc.nat(50))
  .map(([which, seed]) => PIECES[which]?.(seed) ?? '');
const text = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.array(piece, { minLength: 1, maxLength: 4 }).map((all) => all.join('\n')),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 300 }) },
  {
    weight: 1,
    arbitrary: piece.map((each) => JSON.stringify({ rows: each.split('\n'), big: [] })),
  },
);
const textPart = text.map((each): ContentPart => ({ type: 'text', text: each }));
const oddPart: fc.Arbitrary<ContentPart> = fc.constantFrom<ContentPart>(
  { type: 'image', url: 'data:image/png;base64,AAAA', detail: null },
  { type: 'file', url: 'https://example.com/a.pdf', name: null },
  { type: 'native', format: 'messages', value: { type: 'thinking', signature: 'x' } },
  { type: 'text', text: 'cached', cacheControl: { type: 'ephemeral' } },
);

function plain(role: Message['role'], parts: ContentPart[]): Message {
  return { role, parts, toolCalls: [], toolCallId: null };
}

const question = fc.constantFrom(
  'What is request_id of the slow one?',
  'Why did `drain request` take so long?',
  'Wie viele Sätze über 41 gibt es?',
  'And "heartbeat: connection pool ok"?',
  '',
);

/** A user turn with its tool calls and its answer. */
const turn: fc.Arbitrary<Message[]> = fc
  .record({
    user: fc.array(fc.oneof({ weight: 4, arbitrary: textPart }, oddPart), { maxLength: 2 }),
    asks: question,
    outputs: fc.array(
      fc.tuple(textPart, fc.constantFrom('read_file', 'bash', 'search'), fc.nat()),
      {
        maxLength: 4,
      },
    ),
    answer: text,
    note: fc.option(fc.constantFrom<Message['role']>('system', 'developer')),
    twice: fc.boolean(),
  })
  .map(({ user, asks, outputs, answer, note, twice }) => {
    const messages = [plain('user', [...user, { type: 'text', text: asks }])];
    if (twice) messages.push(plain('user', [{ type: 'text', text: asks }]));
    if (note !== null) messages.push(plain(note, [{ type: 'text', text: answer }]));
    for (const [part, name, number] of outputs) {
      const id = `call_${number % 9}`;
      const toolCalls = [{ id, name, arguments: `{ "path": "a${number % 3}.ts" }` }];
      messages.push({ role: 'assistant', parts: [], toolCalls, toolCallId: null });
      messages.push({ role: 'tool', parts: [part], toolCalls: [], toolCallId: id });
    }
    return [...messages, plain('assistant', [{ type: 'text', text: answer }])];
  });

/** Turns, so that a conversation can be cut after each. */
export const turns = fc.array(turn, { minLength: 2, maxLength: 6 });

export const options = fc.record({
  profile: fc.constantFrom('general' as const, 'code' as const, 'research' as const),
  mode: fc.constantFrom('balanced' as const, 'aggressive' as const),
  allowLossyContext: fc.boolean(),
});

/** A value that throws when somebody writes to it. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) frozen(member);
    Object.freeze(value);
  }
  return value;
}

export function textsOf(messages: readonly Message[]): string[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part) => ('text' in part ? [part.text] : [])),
  );
}

/** Fenced blocks as CommonMark has them, read by other means than the optimizer's. */
export function fencedBlocks(text: string): string[] {
  const blocks: string[] = [];
  let rest = text;
  for (;;) {
    const open = /(?:^|\n)( {0,3})(`{3,}(?!.*`)|~{3,})[^\n]*/.exec(rest);
    if (open === null) return blocks;
    const [head, , fence = ''] = open;
    const start = open.index + (head.startsWith('\n') ? 1 : 0);
    const after = open.index + head.length;
    const close = new RegExp(`\\n {0,3}\\${fence[0]}{${fence.length},}[ \\t]*(?=\\n|$)`);
    const end = close.exec(rest.slice(after));
    const stop = end === null ? rest.length : after + end.index + end[0].length;
    blocks.push(rest.slice(start, stop));
    rest = rest.slice(stop);
  }
}

/** A tool's outputs late in a conversation, where a rewrite pays, and a last turn that asks. */
export function toolConversation(outputs: readonly string[], asks: string): Message[] {
  const plain = { toolCalls: [], toolCallId: null };
  const messages: Message[] = [
    { role: 'user', parts: [{ type: 'text', text: 'Look.' }], ...plain },
  ];
  for (const [index, output] of [...Array<string>(60).fill('ok'), ...outputs].entries()) {
    const id = `call_${index}`;
    const toolCalls = [{ id, name: 'fetch', arguments: `{"page":${index}}` }];
    messages.push({ role: 'assistant', parts: [], toolCalls, toolCallId: null });
    messages.push({
      role: 'tool',
      parts: [{ type: 'text', text: output }],
      toolCalls: [],
      toolCallId: id,
    });
  }
  messages.push({ role: 'assistant', parts: [{ type: 'text', text: 'Seen.' }], ...plain });
  return [...messages, { role: 'user', parts: [{ type: 'text', text: asks }], ...plain }];
}
