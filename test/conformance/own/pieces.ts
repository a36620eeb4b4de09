// Items of a Responses provider as they are streamed, from announcement to end: written from the
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
export interface Piece {
  begun: Partial<ResponseOutputItem>;
  item: Named;
  told: Told;
}

export function fixture(name: string, ...pieces: Piece[]): Fixture {
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
export function steps(item: Named, begun: Piece['begun'], ...names: string[]): Piece {
  const told: Told = (place) =>
    names.map((type) => ({ type: `response.${type}`, ...place }) as Unnumbered);
  return { begun, item, told };
}

export type Annotation = ResponseOutputText['annotations'][number];
export type Logprob = NonNullable<ResponseOutputText['logprobs']>[number];

interface TextOptions {
  annotations?: Annotation[];
  logprobs?: Logprob[];
}

export function textPart(
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
export function message(
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

export function reasoning(id: string, summary: string[], content: string[] = []): Piece {
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
export function streamedCall(
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
