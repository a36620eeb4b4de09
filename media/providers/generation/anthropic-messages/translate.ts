// Neutral messages → `system` and `messages`, in the order that the provider insists on: turns that
// alternate, the user's first, and the results of tools right behind their calls, one for each.
import { toolInput } from '../../../model/dialects/messages/blocks.ts';
import { addTo, WaitingById } from '../../../model/lists.ts';
import type { Message } from '../../../model/request.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import { standIns, type Turn, turnsOf } from '../turns.ts';
import { cacheMark, encodeParts, ownOf } from './parts.ts';
import { isThinking } from './thinking.ts';

type Role = 'user' | 'assistant' | 'system';

export interface Conversation {
  /** Blocks of text. */
  system: Members[];
  messages: { role: Role; content: Members[] }[];
}

/** `inPlace`: instructions between the turns stay there, as only this format's own clients mean. */
export function encodeConversation(messages: readonly Message[], inPlace = false): Conversation {
  const firstOther = messages.findIndex((message) => !isInstruction(message));
  const above = inPlace && firstOther >= 0 ? messages.slice(0, firstOther) : messages;
  const system = above
    .filter(isInstruction)
    .flatMap(({ parts }) => encodeParts(parts).filter((block) => block.type === 'text'));
  const turns = new Turns();
  for (const turn of turnsOf(inPlace ? messages.slice(above.length) : messages)) {
    const { role, parts } = turn.message;
    if (inPlace && isInstruction(turn.message)) turns.add('system', encodeParts(parts));
    else if (role === 'assistant') turns.assistant(turn);
    // A result without a call is still worth knowing.
    else if (role === 'user' || role === 'tool') turns.add('user', encodeParts(parts));
  }
  const list = turns.end();
  if (list.length === 0 && system.length > 0) {
    return { system: [], messages: [{ role: 'user', content: system }] };
  }
  const [first] = list;
  if (first !== undefined && first.role !== 'user' && !isCompacted(first)) {
    list.unshift({ role: 'user', content: [{ type: 'text', text: standIns.beginning }] });
  }
  if (list.at(-1)?.role !== 'user' && messages.at(-1)?.role === 'user') {
    list.push({ role: 'user', content: [{ type: 'text', text: standIns.noWords }] });
  }
  trimLast(list);
  return { system, messages: list };
}

function isInstruction({ role }: Message): boolean {
  return role === 'system' || role === 'developer';
}

/** Whether a message stands for the conversation before it: the provider wants it first. */
export function isCompacted({ role, content }: Members): boolean {
  const block: unknown = Array.isArray(content) ? content[0] : null;
  return role === 'assistant' && isMembers(block) && block.type === 'compaction';
}

class Turns {
  readonly #list: Conversation['messages'] = [];
  readonly #ids = new Set<string>();
  /** How often each id was asked for. */
  readonly #counts = new Map<string, number>();

  add(role: Role, content: Members[]): void {
    if (content.length === 0) return;
    if (role !== 'assistant') this.#endAssistant();
    const last = this.#list.at(-1);
    if (last?.role === role) addTo(last.content, content);
    else this.#list.push({ role, content });
  }

  end(): Conversation['messages'] {
    this.#endAssistant();
    return this.#list;
  }

  /** Thinking that led to nothing, since its answer was cut, is refused at the end of a message. */
  #endAssistant(): void {
    const last = this.#list.at(-1);
    if (last?.role !== 'assistant') return;
    last.content.length = last.content.findLastIndex((block) => !isThinking(block)) + 1;
    if (last.content.length === 0) this.#list.pop();
  }

  assistant({ message, results }: Turn): void {
    const answers = new WaitingById<Message>();
    for (const result of results) answers.add(result.toolCallId ?? '', result);
    const blocks: Members[] = [];
    const calls = message.toolCalls.map((call): Members => {
      const id = this.#newId(call.id);
      blocks.push(toolResult(id, answers.take(call.id)));
      const input = toolInput(call.arguments);
      const beside = { ...cacheMark(call), ...ownOf(call) };
      return { type: 'tool_use', id, name: call.name, input, ...beside };
    });
    this.add('assistant', [...encodeParts(message.parts), ...calls]);
    this.add('user', blocks);
  }

  /** Unlike here, clients of other formats use an id again in a later turn, and any character. */
  #newId(wanted: string): string {
    const base = wanted.replace(/[^a-zA-Z0-9_-]/g, '_') || 'call';
    let id = base;
    let count = this.#counts.get(base) ?? 1;
    if (count > 1) id = `${base}_${count}`;
    for (; this.#ids.has(id); id = `${base}_${count}`) count += 1;
    this.#counts.set(base, count);
    this.#ids.add(id);
    return id;
  }
}

function toolResult(id: string, answer: Message | undefined): Members {
  const base = { type: 'tool_result', tool_use_id: id };
  if (answer === undefined) return { ...base, content: standIns.noResult, is_error: true };
  const content = encodeParts(answer.parts);
  const members: Members = { ...base, ...cacheMark(answer) };
  if (content.length > 0) members.content = content;
  if (answer.toolFailed === true) members.is_error = true;
  return members;
}

/** What the assistant is to go on with may not end in white space. */
function trimLast(list: Conversation['messages']): void {
  const last = list.at(-1);
  const block = last?.role === 'assistant' ? last.content.at(-1) : undefined;
  if (typeof block?.text === 'string') block.text = block.text.trimEnd();
}
