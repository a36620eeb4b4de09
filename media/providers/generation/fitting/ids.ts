// Ids of calls as a provider takes them: without what another one put into them, and in its form.
// Call and result are told the same one, and the same one in each turn.
import { createHash } from 'node:crypto';
import type { ContentPart, GenerationRequest, Message } from '../../../model/request.ts';
import { isLaden, readCallId } from '../call-ids.ts';

export interface IdRule {
  /** What is taken as it is. */
  taken: Pick<RegExp, 'test'>;
  /** Makes one for any other. */
  made(id: string): string;
}

/** A server that is given back its own: what others put into them is taken out. */
export const ownIds: IdRule = { taken: /^/, made: (id) => id };

/** Servers of Chat Completions have refused more than 40 characters. */
export const chatIds: IdRule = { taken: /^.{0,40}$/s, made: callId };

export const responsesIds: IdRule = { taken: /^.{0,64}$/s, made: callId };

/** The pattern is the vendor's; 64 is the bound of those who resell it. */
export const messagesIds: IdRule = { taken: /^[a-zA-Z0-9_-]{1,64}$/, made: callId };

/** The template of Mistral's models insists on it, and so does their API. */
export const mistralIds: IdRule = {
  taken: /^[a-zA-Z0-9]{9}$/,
  made: (id) =>
    digestOf(id)
      .replace(/[^a-zA-Z0-9]/g, '')
      .slice(0, 9),
};

/**
 * The rule of a server beside the ids that it gave itself: what it wants back with a turn may name
 * the calls of it.
 */
export function withGivenIds(
  rule: IdRule,
  { messages }: GenerationRequest,
  server: string,
): IdRule {
  const given = new Set<string>();
  for (const { returned, toolCalls } of messages) {
    const isTurn = returned?.some((one) => one.server === server) === true;
    for (const call of toolCalls) {
      if (isTurn || call.returned?.server === server) given.add(readCallId(call.id).id);
    }
  }
  if (given.size === 0) return rule;
  return { taken: { test: (id) => given.has(id) || rule.taken.test(id) }, made: rule.made };
}

const hashCharacters = 24;

function callId(id: string): string {
  return `call_${digestOf(id).slice(0, hashCharacters)}`;
}

function digestOf(id: string): string {
  return createHash('sha256').update(id).digest('base64url');
}

/** The client's own body has the ids too: it is not forwarded where they are changed. */
export function withIds(request: GenerationRequest, rule: IdRule): GenerationRequest {
  const { messages, source } = request;
  if (!messages.some((message) => isOdd(message, rule))) return request;
  return {
    ...request,
    messages: messages.map((message) => (isOdd(message, rule) ? changed(message, rule) : message)),
    source: { ...source, rewritten: true },
  };
}

function isOdd({ toolCallId, toolCalls, parts }: Message, rule: IdRule): boolean {
  if (toolCallId !== null && !isTaken(toolCallId, rule)) return true;
  if (toolCalls.some(({ id }) => !isTaken(id, rule))) return true;
  return parts.some((part) => part.type === 'native' && isOddPart(part, rule));
}

function isTaken(id: string, rule: IdRule): boolean {
  return rule.taken.test(id) && !isLaden(id);
}

/** Calls of other kinds than functions are parts that one format alone knows. */
function isOddPart({ value }: ContentPart & { type: 'native' }, rule: IdRule): boolean {
  return typeof value.call_id === 'string' && !isTaken(value.call_id, rule);
}

function changed(message: Message, rule: IdRule): Message {
  const { toolCallId, toolCalls, parts } = message;
  return {
    ...message,
    toolCallId: toolCallId === null ? null : told(toolCallId, rule),
    toolCalls: toolCalls.map((call) => ({ ...call, id: told(call.id, rule) })),
    parts: parts.map((part): ContentPart => {
      if (part.type !== 'native' || !isOddPart(part, rule)) return part;
      return { ...part, value: { ...part.value, call_id: told(String(part.value.call_id), rule) } };
    }),
  };
}

function told(signed: string, rule: IdRule): string {
  const { id } = readCallId(signed);
  return rule.taken.test(id) ? id : rule.made(id);
}
