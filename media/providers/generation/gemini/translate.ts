// Neutral messages → contents and systemInstruction. The API wants turns: the calls of a turn stand
// in one content of the model, behind one of the user, and the next one has exactly their results.
import { addTo, WaitingById } from '../../../model/lists.ts';
import type { Message } from '../../../model/request.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import { readCallId } from '../call-ids.ts';
import { standIns, turnsOf } from '../turns.ts';
import { generationOf } from './model.ts';
import { encodeParts } from './parts.ts';

/** What the vendor tells to send with calls of another model, which have no signature. */
const foreignSignature = 'skip_thought_signature_validator';

export interface EncodedMessages {
  contents: Content[];
  systemInstruction: Members | null;
}

interface Content {
  role: 'user' | 'model';
  parts: Members[];
}

/** `model`: its name upstream. */
export function encodeMessages(messages: readonly Message[], model: string): EncodedMessages {
  const turns = new Turns();
  const system: Members[] = [];
  for (const { message, results } of turnsOf(messages)) {
    switch (message.role) {
      case 'system':
      case 'developer':
        addTo(system, encodeParts(message.parts));
        break;
      case 'user':
        turns.user(encodeParts(message.parts));
        break;
      case 'assistant':
        turns.model(message);
        for (const result of results) turns.result(result);
        break;
      case 'tool':
        turns.result(message);
    }
  }
  const contents = turns.end();
  if (contents.at(-1)?.role === 'model' && messages.at(-1)?.role === 'user') {
    contents.push({ role: 'user', parts: [{ text: standIns.noWords }] });
  }
  const generation = generationOf(model);
  if (generation === null || generation >= 3) contents.forEach(signCalls);
  // Nothing but instructions is refused: they are the question then.
  if (contents.length > 0) {
    return { contents, systemInstruction: system.length === 0 ? null : { parts: system } };
  }
  const parts = system.length === 0 ? [{ text: ' ' }] : system;
  return { contents: [{ role: 'user', parts }], systemInstruction: null };
}

interface OpenCall {
  id: string;
  name: string;
  response: Members | null;
}

class Turns {
  readonly #contents: Content[] = [];
  /** Calls of the last content, and what their results cannot hold: images, for example. */
  #open: OpenCall[] = [];
  #unanswered = new WaitingById<OpenCall>();
  #isAnswered = false;
  #beside: Members[] = [];

  user(parts: Members[]): void {
    this.#answer();
    if (parts.length > 0) this.#contents.push({ role: 'user', parts });
  }

  /** The words and calls of one turn stand together, in as many messages as they may come. */
  model(message: Message): void {
    if (this.#isAnswered || this.#beside.length > 0) this.#answer();
    const parts = encodeParts(message.parts);
    for (const call of message.toolCalls) {
      const { id, signature } = readCallId(call.id);
      const open: OpenCall = { id, name: call.name, response: null };
      this.#open.push(open);
      this.#unanswered.add(id, open);
      const functionCall = { id, name: call.name, args: argumentsOf(call.arguments) };
      parts.push(
        signature === null ? { functionCall } : { functionCall, thoughtSignature: signature },
      );
    }
    if (parts.length === 0) return;
    const last = this.#contents.at(-1);
    if (last?.role === 'model') {
      addTo(last.parts, parts);
      return;
    }
    if (last === undefined)
      this.#contents.push({ role: 'user', parts: [{ text: standIns.beginning }] });
    this.#contents.push({ role: 'model', parts });
  }

  /** A result without a call is still worth knowing. */
  result(message: Message): void {
    const { id } = readCallId(message.toolCallId ?? '');
    const call = this.#unanswered.take(id);
    if (call === undefined) {
      addTo(this.#beside, encodeParts(message.parts));
      return;
    }
    this.#isAnswered = true;
    const texts = message.parts.flatMap((part) => (part.type === 'text' ? part.text : []));
    const text = texts.join('\n');
    call.response = message.toolFailed === true ? { error: text } : { output: text };
    addTo(this.#beside, encodeParts(message.parts.filter((part) => part.type !== 'text')));
  }

  end(): Content[] {
    this.#answer();
    return this.#contents;
  }

  /** One result for each call, in their order. */
  #answer(): void {
    const results = this.#open.map(({ id, name, response }) => ({
      functionResponse: { id, name, response: response ?? { error: standIns.noResult } },
    }));
    const parts = [...results, ...this.#beside];
    this.#open = [];
    this.#unanswered = new WaitingById();
    this.#isAnswered = false;
    this.#beside = [];
    if (parts.length > 0) this.#contents.push({ role: 'user', parts });
  }
}

/** The first call of a turn must be signed; the others of the same turn never are. */
function signCalls({ parts }: Content): void {
  const first = parts.find((part) => part.functionCall !== undefined);
  if (first !== undefined) first.thoughtSignature ??= foreignSignature;
}

/** The arguments are the model's own text: they may be no JSON, or no object. */
function argumentsOf(text: string): Members {
  if (text.trim() === '') return {};
  try {
    const parsed: unknown = JSON.parse(text);
    return isMembers(parsed) ? parsed : { value: parsed };
  } catch {
    return { value: text };
  }
}
