// Where in a client's own body the conversation, an image, a file or a sound stands. Neutral
// messages do not say: instructions are among them, items of a turn are merged, earlier turns may
// stand in front.
import type { ContentPart, GenerationRequest } from './request.ts';

type Members = Record<string, unknown>;

export type MediaKind = 'image' | 'file' | 'audio';

/** What the formats call them. */
const types: Readonly<Record<MediaKind, readonly unknown[]>> = {
  image: ['image', 'image_url', 'input_image'],
  file: ['document', 'file', 'input_file'],
  audio: ['input_audio'],
};

/** The member of the client's body that has the conversation: two formats know both. */
export function conversationMember({
  source: { body, format },
}: Pick<GenerationRequest, 'source'>): 'input' | 'messages' {
  if (format === 'chat' || format === 'messages') return 'messages';
  // Of the two, `input` is read first.
  return (body.input ?? null) !== null || (body.messages ?? null) === null ? 'input' : 'messages';
}

/** As in `messages[2].content`; only the list where none of its own entries has one. */
export function mediaPath(request: GenerationRequest, kind: MediaKind): string {
  const [first = conversationMember(request)] = mediaPaths(request, kind);
  return first;
}

/** All of them. */
export function* mediaPaths(request: GenerationRequest, kind: MediaKind): Generator<string> {
  const { body } = request.source;
  const list = conversationMember(request);
  const entries: readonly unknown[] = Array.isArray(body[list]) ? body[list] : [];
  for (const [index, entry] of entries.entries()) {
    for (const member of ['content', 'output']) {
      if (holds(Object(entry)[member], kind)) yield `${list}[${index}].${member}`;
    }
  }
}

/**
 * Where the client's own object for a part stands, as in `input[2]` or `messages[0].content`; only
 * the list where it is of another turn.
 */
export function partPath(request: GenerationRequest, part: ContentPart): string {
  const { body } = request.source;
  const list = conversationMember(request);
  const entries: readonly unknown[] = Array.isArray(body[list]) ? body[list] : [];
  const value = part.type === 'native' ? part.value : null;
  for (const [index, entry] of entries.entries()) {
    if (entry === value) return `${list}[${index}]`;
    for (const member of ['content', 'output']) {
      const content: unknown = Object(entry)[member];
      if (Array.isArray(content) && content.includes(value)) return `${list}[${index}].${member}`;
    }
  }
  return list;
}

/** Results of tools have contents of their own. */
function holds(content: unknown, kind: MediaKind): boolean {
  if (!Array.isArray(content)) return false;
  return content.some((part) => {
    const { type, content: inner }: Members = Object(part);
    return types[kind].includes(type) || holds(inner, kind);
  });
}
