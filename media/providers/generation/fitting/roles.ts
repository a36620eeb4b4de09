// Roles that a server does not know, and instructions between the turns. Templates of many open
// models refuse the latter: they want one system message, in front of all others.
import { addTo } from '../../../model/lists.ts';
import type { ContentPart, GenerationRequest, Message } from '../../../model/request.ts';
import { isMembers } from '../../../transport/members.ts';
import type { UpstreamQuirks } from '../contract.ts';

type Place = UpstreamQuirks['systemMessages'];

const introduction = '(An instruction of the system:)';

/** The body of a client of Chat for a server that knows no developer: other forms never say one. */
export function withoutDeveloper(request: GenerationRequest): GenerationRequest {
  const { body } = request.source;
  const { messages } = body;
  if (!Array.isArray(messages) || !messages.some(isDeveloper)) return request;
  const told = messages.map((message) =>
    isDeveloper(message) ? { ...message, role: 'system' } : message,
  );
  return { ...request, source: { ...request.source, body: { ...body, messages: told } } };
}

function isDeveloper(message: unknown): message is Record<string, unknown> {
  return isMembers(message) && message.role === 'developer';
}

/** Instructions where the provider's quirk wants them. */
export function withSystemAt(request: GenerationRequest, place: Place): GenerationRequest {
  if (place === 'in_place') return request;
  const { messages, source } = request;
  const firstOther = messages.findIndex((message) => !isInstruction(message));
  const isPlaced = firstOther < 0 || !messages.slice(firstOther).some(isInstruction);
  const above = firstOther < 0 ? messages.length : firstOther;
  if (isPlaced && above <= 1) return request;
  const placed = place === 'first' ? inFront(messages) : asWords(messages, above);
  return { ...request, messages: placed, source: { ...source, rewritten: true } };
}

function isInstruction({ role }: Message): boolean {
  return role === 'system' || role === 'developer';
}

function inFront(messages: readonly Message[]): Message[] {
  const others = messages.filter((message) => !isInstruction(message));
  return [...joined(messages.filter(isInstruction)), ...others];
}

/** Instructions behind the first turn become words of the user, beside the user's own. */
function asWords(messages: readonly Message[], above: number): Message[] {
  const told: Message[] = joined(messages.slice(0, above));
  let isAdded = false;
  for (const message of messages.slice(above)) {
    const isOurs = isInstruction(message) && message.parts.some(({ type }) => type === 'text');
    const next = isOurs ? worded(message) : message;
    const last = told.at(-1);
    const isNeighbour = last?.role === 'user' && next.role === 'user';
    if (isNeighbour && (isOurs || isAdded)) {
      told[told.length - 1] = { ...last, parts: [...last.parts, ...next.parts] };
    } else told.push(next);
    isAdded = isOurs;
  }
  return told;
}

function worded({ parts }: Message): Message {
  const [first, ...rest] = parts;
  const said: ContentPart[] =
    first?.type === 'text'
      ? [{ ...first, text: `${introduction}\n${first.text}` }, ...rest]
      : [{ type: 'text', text: introduction }, ...parts];
  return { role: 'user', parts: said, toolCalls: [], toolCallId: null };
}

/** One message of all. */
function joined(instructions: readonly Message[]): Message[] {
  const [first, ...others] = instructions;
  if (first === undefined || others.length === 0) return [...instructions];
  const parts = [...first.parts];
  for (const other of others) addTo(parts, other.parts);
  return [{ ...first, role: 'system', parts }];
}
