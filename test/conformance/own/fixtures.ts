// Answers of a Responses provider with everything that only this format has: written from the
// vendor's published types, which the compiler holds them to (not recorded from a provider).
import type {
  ResponseOutputItem,
  ResponseOutputMessage,
  ResponseOutputText,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses';

/** An event without its number, which the stream gives it. */
export type Unnumbered = ResponseStreamEvent extends infer Event
  ? Event extends ResponseStreamEvent
    ? Omit<Event, 'sequence_number'>
    : never
  : never;

export interface Fixture {
  name: string;
  output: ResponseOutputItem[];
  /** What is told of each item, from added to done. */
  events: Unnumbered[];
}

type Named = ResponseOutputItem & { id: string };
type Told = (place: { item_id: string; output_index: number }) => Unnumbered[];

/** An item from its announcement to its end. */
interface Piece {
  begun: Partial<ResponseOutputItem>;
  item: Named;
  told: Told;
}

function fixture(name: string, ...pieces: Piece[]): Fixture {
  const output = pieces.map(({ item }) => item);
  const events = pieces.flatMap(({ begun, item, told }, index): Unnumbered[] => [
    {
      type: 'response.output_item.added',
      output_index: index,
      item: { ...item, ...begun } as ResponseOutputItem,
    },
    ...told({ item_id: item.id, output_index: index }),
    { type: 'response.output_item.done', output_index: index, item },
  ]);
  return { name, output, events };
}

/** An item of which nothing is told between its two ends but that its state changes. */
function steps(item: Named, begun: Piece['begun'], ...names: string[]): Piece {
  const told: Told = (place) =>
    names.map((type) => ({ type: `response.${type}`, ...place }) as Unnumbered);
  return { begun, item, told };
}

type Annotation = ResponseOutputText['annotations'][number];
type Logprob = NonNullable<ResponseOutputText['logprobs']>[number];

interface TextOptions {
  annotations?: Annotation[];
  logprobs?: Logprob[];
}

function textPart(
  text: string,
  { annotations = [], logprobs = [] }: TextOptions = {},
): ResponseOutputText {
  return { type: 'output_text', annotations, logprobs, text };
}

/** Without the bytes: the published types of deltas and of the end of a text have none. */
function withoutBytes({ token, logprob, top_logprobs: top }: Logprob) {
  return {
    token,
    logprob,
    top_logprobs: top.map((entry) => ({ token: entry.token, logprob: entry.logprob })),
  };
}

/** Each part in two deltas, with one logprob each where there are any. */
function message(
  id: string,
  content: ResponseOutputMessage['content'],
  members: { phase?: 'commentary' | 'final_answer' } = {},
): Piece {
  const item = { id, type: 'message', status: 'completed', content, role: 'assistant' } as const;
  const told: Told = (place) =>
    content.flatMap((part, index) => partEvents(part, { ...place, content_index: index }));
  return {
    begun: { status: 'in_progress', content: [] } as Partial<ResponseOutputItem>,
    item: { ...item, ...members } as ResponseOutputMessage,
    told,
  };
}

function partEvents(
  part: ResponseOutputMessage['content'][number],
  place: { item_id: string; output_index: number; content_index: number },
): Unnumbered[] {
  if (part.type === 'refusal') {
    return [
      { type: 'response.content_part.added', ...place, part: { ...part, refusal: '' } },
      { type: 'response.refusal.delta', ...place, delta: part.refusal },
      { type: 'response.refusal.done', ...place, refusal: part.refusal },
      { type: 'response.content_part.done', ...place, part },
    ];
  }
  const { text, annotations, logprobs = [] } = part;
  const half = Math.ceil(text.length / 2);
  const listed = logprobs.map(withoutBytes);
  const deltas = [text.slice(0, half), text.slice(half)].filter((delta) => delta !== '');
  return [
    { type: 'response.content_part.added', ...place, part: textPart('') },
    ...deltas.map((delta, index): Unnumbered => {
      const type = 'response.output_text.delta';
      return { type, ...place, delta, logprobs: listed.slice(index, index + 1) };
    }),
    ...annotations.map((annotation, index): Unnumbered => {
      const type = 'response.output_text.annotation.added';
      return { type, ...place, annotation_index: index, annotation };
    }),
    { type: 'response.output_text.done', ...place, text, logprobs: listed },
    { type: 'response.content_part.done', ...place, part },
  ];
}

const sealed = 'c2VhbGVk';

function reasoning(id: string, summary: string[], content: string[] = []): Piece {
  const told: Told = (place) => [
    ...summary.flatMap((text, index): Unnumbered[] => {
      const at = { ...place, summary_index: index };
      const part = (value: string) => ({ type: 'summary_text' as const, text: value });
      return [
        { type: 'response.reasoning_summary_part.added', ...at, part: part('') },
        { type: 'response.reasoning_summary_text.delta', ...at, delta: text.slice(0, 3) },
        { type: 'response.reasoning_summary_text.delta', ...at, delta: text.slice(3) },
        { type: 'response.reasoning_summary_text.done', ...at, text },
        { type: 'response.reasoning_summary_part.done', ...at, part: part(text) },
      ];
    }),
    ...content.flatMap((text, index): Unnumbered[] => {
      const at = { ...place, content_index: index };
      const part = (value: string) => ({ type: 'reasoning_text' as const, text: value });
      return [
        { type: 'response.content_part.added', ...at, part: part('') },
        { type: 'response.reasoning_text.delta', ...at, delta: text },
        { type: 'response.reasoning_text.done', ...at, text },
        { type: 'response.content_part.done', ...at, part: part(text) },
      ];
    }),
  ];
  const item = {
    id,
    type: 'reasoning' as const,
    summary: summary.map((text) => ({ type: 'summary_text' as const, text })),
    encrypted_content: sealed,
    status: 'completed' as const,
    ...(content.length > 0 && {
      content: content.map((text) => ({ type: 'reasoning_text' as const, text })),
    }),
  };
  // The texts come with their events.
  const texts = { summary: [], ...(content.length > 0 && { content: undefined }) };
  const begun = { ...texts, status: 'in_progress' } as unknown as Piece['begun'];
  return { begun, item, told };
}

/** A call whose text is streamed in two halves. */
function streamedCall(
  item: Named,
  member: 'arguments' | 'input' | 'code',
  event: string,
  around: { before?: string[]; after?: string[]; begun?: Record<string, unknown> } = {},
): Piece {
  const text = String((item as unknown as Record<string, unknown>)[member]);
  const half = Math.ceil(text.length / 2);
  const told: Told = (place) =>
    [
      ...(around.before ?? []).map((type) => ({ type, ...place })),
      { type: `${event}.delta`, ...place, delta: text.slice(0, half) },
      { type: `${event}.delta`, ...place, delta: text.slice(half) },
      {
        type: `${event}.done`,
        ...place,
        ...(item.type === 'function_call' ? { name: item.name } : {}),
        [member]: text,
      },
      ...(around.after ?? []).map((type) => ({ type, ...place })),
    ] as Unnumbered[];
  return { begun: { [member]: '', ...around.begun } as Piece['begun'], item, told };
}

const annotations: Annotation[] = [
  { type: 'file_citation', file_id: 'file-1', filename: 'a.pdf', index: 3 },
  { type: 'url_citation', url: 'https://x.test', title: 'X', start_index: 0, end_index: 4 },
  {
    type: 'container_file_citation',
    container_id: 'cntr_1',
    file_id: 'cfile_1',
    filename: 'b.csv',
    start_index: 1,
    end_index: 2,
  },
  { type: 'file_path', file_id: 'file-2', index: 1 },
];

function logprob(token: string, value: number): Logprob {
  const bytes = [...Buffer.from(token)];
  return { token, bytes, logprob: value, top_logprobs: [{ token, bytes, logprob: value }] };
}

const messages: Fixture[] = [
  fixture(
    'logprobs of a text, with every delta and at its ends',
    message('msg_1', [
      textPart('hi there', { logprobs: [logprob('hi t', -0.1), logprob('here', -2)] }),
    ]),
  ),
  fixture(
    'annotations of every kind',
    message('msg_1', [textPart('see these files', { annotations })]),
  ),
  fixture(
    'two messages in their phases, of several parts, one of them empty',
    message('msg_1', [textPart('I look.')], { phase: 'commentary' }),
    message(
      'msg_2',
      [
        textPart('First.', { annotations: annotations.slice(1, 3) }),
        textPart('Second.', { annotations: annotations.slice(0, 2) }),
        textPart(''),
        { type: 'refusal', refusal: 'Not that.' },
      ],
      { phase: 'final_answer' },
    ),
  ),
  fixture('a message without parts', message('msg_1', []), message('msg_2', [textPart('So.')])),
];

const thoughts: Fixture[] = [
  fixture(
    'reasoning in several parts, in two items',
    reasoning('rs_1', ['**One** of it', '**Two** of it', '**Three**']),
    reasoning('rs_2', ['**More**']),
    message('msg_1', [textPart('So.')]),
  ),
  fixture(
    'reasoning that is shown itself, and reasoning that is not shown',
    reasoning('rs_1', [], ['I think', 'and think']),
    reasoning('rs_2', []),
    message('msg_1', [textPart('So.')]),
  ),
];

const calls: Fixture[] = [
  fixture(
    'custom tools and functions, called in parallel',
    streamedCall(
      { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_1', name: 'grep', input: 'a "b"\n' },
      'input',
      'response.custom_tool_call_input',
    ),
    streamedCall(
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'call_2',
        name: 'find',
        arguments: '{"city":"Zürich"}',
        status: 'completed',
      },
      'arguments',
      'response.function_call_arguments',
      { begun: { status: 'in_progress' } },
    ),
    streamedCall(
      {
        type: 'function_call',
        id: 'fc_2',
        call_id: 'call_3',
        name: 'list',
        namespace: 'files',
        arguments: '{"all":true}',
        status: 'completed',
        caller: { type: 'direct' },
      },
      'arguments',
      'response.function_call_arguments',
      { begun: { status: 'in_progress' } },
    ),
  ),
];

const hosted: Fixture[] = [
  fixture(
    'searches of the web and of files',
    steps(
      {
        type: 'web_search_call',
        id: 'ws_1',
        status: 'completed',
        action: { type: 'search', query: 'q', queries: ['q'] },
      },
      { status: 'in_progress' },
      'web_search_call.in_progress',
      'web_search_call.searching',
      'web_search_call.completed',
    ),
    steps(
      {
        type: 'file_search_call',
        id: 'fs_1',
        status: 'completed',
        queries: ['q'],
        results: [{ file_id: 'file-1', filename: 'a.pdf', score: 0.5, text: 't' }],
      },
      { status: 'in_progress', results: null },
      'file_search_call.in_progress',
      'file_search_call.searching',
      'file_search_call.completed',
    ),
    message('msg_1', [textPart('Found.', { annotations })]),
  ),
  fixture(
    'code that is run, and a file of it',
    streamedCall(
      {
        type: 'code_interpreter_call',
        id: 'ci_1',
        status: 'completed',
        code: 'print(1)\n',
        container_id: 'cntr_1',
        outputs: [{ type: 'logs', logs: '1\n' }],
      },
      'code',
      'response.code_interpreter_call_code',
      {
        before: ['response.code_interpreter_call.in_progress'],
        after: [
          'response.code_interpreter_call.interpreting',
          'response.code_interpreter_call.completed',
        ],
        begun: { status: 'in_progress', outputs: null },
      },
    ),
    message('msg_1', [textPart('One.', { annotations: annotations.slice(2, 3) })]),
  ),
  fixture('an image that appears bit by bit', {
    begun: { status: 'in_progress', result: null } as Piece['begun'],
    item: {
      type: 'image_generation_call',
      id: 'ig_1',
      status: 'completed',
      result: 'aW1hZ2U=',
      revised_prompt: 'a cat',
      output_format: 'png',
    },
    told: (place) => [
      { type: 'response.image_generation_call.in_progress', ...place },
      { type: 'response.image_generation_call.generating', ...place },
      {
        type: 'response.image_generation_call.partial_image',
        ...place,
        partial_image_index: 0,
        partial_image_b64: 'aW0=',
        output_format: 'png',
      },
      { type: 'response.image_generation_call.completed', ...place },
    ],
  }),
  fixture(
    'servers of the model context protocol: their tools, calls, and what asks for approval',
    steps(
      {
        type: 'mcp_list_tools',
        id: 'mcpl_1',
        server_label: 's',
        tools: [{ name: 'roll', input_schema: { type: 'object' }, description: 'd' }],
      },
      { tools: [] },
      'mcp_list_tools.in_progress',
      'mcp_list_tools.completed',
    ),
    streamedCall(
      {
        type: 'mcp_call',
        id: 'mcp_1',
        server_label: 's',
        name: 'roll',
        arguments: '{"sides":6}',
        output: '4',
        error: null,
        approval_request_id: null,
        status: 'completed',
      },
      'arguments',
      'response.mcp_call_arguments',
      {
        before: ['response.mcp_call.in_progress'],
        after: ['response.mcp_call.completed'],
        begun: { output: null, status: 'in_progress' },
      },
    ),
    steps(
      {
        type: 'mcp_call',
        id: 'mcp_2',
        server_label: 's',
        name: 'roll',
        arguments: '{}',
        error: { type: 'http_error', code: 500, message: 'm' },
        status: 'failed',
      },
      { status: 'in_progress' },
      'mcp_call.in_progress',
      'mcp_call.failed',
    ),
    steps(
      {
        type: 'mcp_approval_request',
        id: 'mcpr_1',
        server_label: 's',
        name: 'roll',
        arguments: '{}',
      },
      {},
    ),
  ),
  fixture(
    'a shell, a program, and a compaction',
    {
      begun: { status: 'in_progress' } as Piece['begun'],
      item: {
        type: 'shell_call',
        id: 'sh_1',
        call_id: 'call_1',
        status: 'completed',
        environment: null,
        action: { commands: ['ls -l'], max_output_length: null, timeout_ms: null },
      },
      told: ({ output_index }) => {
        const at = { output_index, command_index: 0 };
        return [
          { type: 'response.shell_call_command.added', ...at, command: '' },
          { type: 'response.shell_call_command.delta', ...at, delta: 'ls ', obfuscation: 'x' },
          { type: 'response.shell_call_command.delta', ...at, delta: '-l', obfuscation: 'xy' },
          { type: 'response.shell_call_command.done', ...at, command: 'ls -l' },
        ];
      },
    },
    steps({ type: 'program', id: 'pr_1', call_id: 'call_2', code: 'x', fingerprint: 'f' }, {
      code: '',
    } as Piece['begun']),
    steps({ type: 'compaction', id: 'cmp_1', encrypted_content: 'e' }, {}, 'compaction.compacting'),
  ),
];

export const fixtures: readonly Fixture[] = [...messages, ...thoughts, ...calls, ...hosted];
