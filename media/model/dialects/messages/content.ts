// Messages of a body → neutral ones. A turn of the user may hold the results of several tools and
// words of its own: each result becomes a message, in the order in which they stand.
import { writeJson } from '../../../../runtime/http/whole-numbers.ts';
import type { ContentPart, Message, NativeMembers, Returned } from '../../request.ts';
import { readCarried } from '../../returned.ts';
import { isSealed, type Seals } from '../../seals.ts';
import { cacheMark, passthroughOf } from '../passthrough.ts';
import { type OpenedReasoning, openReasoning } from '../responses/reasoning.ts';
import { readTextDocument } from './documents.ts';
import type { BlockSource, BodyMessage, CountRequestBody, KnownBlocks } from './schema.ts';

/** Any block: those of unknown types too. */
type BodyBlock = Record<string, unknown> & { type: string };
/** Opens what the account that asks was given. */
type Opening = Pick<Seals, 'open'>;

/** The system prompt is the first of them. */
export function readMessages(
  body: Pick<CountRequestBody, 'system' | 'messages'>,
  seals: Opening,
): Message[] {
  const messages: Message[] = [];
  const system = readParts(body.system ?? [], seals);
  if (system.length > 0) messages.push(messageOf('system', system));
  const lastUser = body.messages.findLastIndex(({ role }) => role === 'user');
  for (const [index, message] of body.messages.entries()) {
    if (!isCleared(message) || index > lastUser) addMessage(message, messages, seals);
  }
  return messages;
}

/** Instructions for the turn of the user that they follow, and for no later one. */
function isCleared(message: BodyMessage): boolean {
  return message.role === 'system' && message.clear_at === 'next_user_message';
}

function addMessage({ role, content }: BodyMessage, messages: Message[], seals: Opening): void {
  // A system message may set nothing but the effort.
  if (content === null || content === undefined) return;
  if (typeof content === 'string' || role === 'system') {
    messages.push(messageOf(role, readParts(content, seals)));
    return;
  }
  if (role === 'assistant') {
    const calls = content.filter((block) => isBlock(block, 'tool_use'));
    const rest = content.filter((block) => !isBlock(block, 'tool_use'));
    const toolCalls = calls.map((call) => {
      const { id, name, input } = call;
      const beside = { ...cacheMark(call), ...ownOf(call), ...readCarried(id, seals) };
      return { id, name, arguments: writeJson(input) ?? '', ...beside };
    });
    const returned: Returned[] = [];
    const said = { ...messageOf(role, readParts(rest, seals, returned)), toolCalls };
    messages.push(returned.length === 0 ? said : { ...said, returned });
    return;
  }
  let words: BodyBlock[] = [];
  const flush = () => {
    if (words.length > 0) messages.push(messageOf(role, readParts(words, seals)));
    words = [];
  };
  for (const block of content) {
    if (isBlock(block, 'tool_result')) {
      flush();
      messages.push(resultOf(block, seals));
    } else words.push(block);
  }
  flush();
}

function resultOf(block: KnownBlocks['tool_result'], seals: Opening): Message {
  return {
    ...messageOf('tool', readParts(block.content ?? [], seals)),
    toolCallId: block.tool_use_id,
    toolFailed: block.is_error === true,
    ...cacheMark(block),
  };
}

function messageOf(role: Message['role'], parts: ContentPart[]): Message {
  return { role, parts, toolCalls: [], toolCallId: null };
}

/** `returned` is given what belongs to the message and is no part of it. */
function readParts(
  content: string | readonly BodyBlock[],
  seals: Opening,
  returned: Returned[] = [],
): ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  const parts: ContentPart[] = [];
  for (const block of content) {
    const part = readPart(block, seals);
    if (part.type === 'returned') returned.push({ server: part.server, members: part.members });
    else parts.push(part);
  }
  return parts;
}

function readPart(block: BodyBlock, seals: Opening): OpenedReasoning {
  if (isBlock(block, 'text')) {
    return { type: 'text', text: block.text, ...cacheMark(block), ...ownOf(block) };
  }
  if (isBlock(block, 'image')) {
    const url = urlOf(block.source);
    if (url !== null) {
      return { type: 'image', url, detail: null, ...cacheMark(block), ...ownOf(block) };
    }
  }
  if (isBlock(block, 'document')) {
    const url = urlOf(block.source);
    if (url !== null) {
      const name = block.title ?? null;
      return { type: 'file', url, name, ...cacheMark(block), ...ownOf(block) };
    }
  }
  const reference = readToolReference(block);
  if (reference !== null) return reference;
  const document = readTextDocument(block);
  if (document !== null) return { ...document, ...cacheMark(block) };
  return readForeign(block, seals) ?? { type: 'native', format: 'messages', value: block };
}

/** A tool that a search of the client's has found: elsewhere it was declared from the beginning. */
function readToolReference(block: BodyBlock): ContentPart | null {
  const { type, tool_name: name } = block;
  if (type !== 'tool_reference' || typeof name !== 'string') return null;
  const text = `The tool ${name} was found: it can be called by this name.`;
  return { type: 'text', text, original: { format: 'messages', value: block } };
}

/** Thinking of a provider of another format, which takes it back as it was. */
function readForeign(
  { type, thinking, signature }: BodyBlock,
  seals: Opening,
): OpenedReasoning | null {
  if (type !== 'thinking' || typeof signature !== 'string' || !isSealed(signature)) return null;
  const isShown = typeof thinking === 'string' && thinking !== '';
  const summary = isShown ? [{ type: 'summary_text', text: thinking }] : [];
  return openReasoning({ type: 'reasoning', summary, encrypted_content: signature }, seals);
}

const readMembers: ReadonlySet<string> = new Set([
  '__proto__',
  'cache_control',
  'id',
  'input',
  'name',
  'source',
  'text',
  'title',
  'type',
]);

function ownOf(block: BodyBlock): NativeMembers {
  return passthroughOf('messages', block, readMembers);
}

/** Null: a file or content that only the provider of the format can look up. */
function urlOf(source: BlockSource): string | null {
  switch (source.type) {
    case 'base64':
      return `data:${source.media_type};base64,${source.data}`;
    case 'url':
      return source.url;
    case 'text':
      return `data:text/plain;charset=utf-8;base64,${Buffer.from(source.data).toString('base64')}`;
    default:
      return null;
  }
}

function isBlock<T extends keyof KnownBlocks>(
  block: BodyBlock,
  type: T,
): block is BodyBlock & KnownBlocks[T] {
  return block.type === type;
}
