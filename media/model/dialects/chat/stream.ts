// Writes one subscriber's Chat Completions stream. A text event is three strings joined: what
// stands around the text never changes in a stream, and plain text needs no escaping.
import type { Problem } from '../../../../runtime/problem.ts';
import type { Answer } from '../../answer.ts';
import type { FinishReason, ModelEvent, Progress } from '../../events.ts';
import { flat } from '../../flat.ts';
import { isRun, singles } from '../../text-run.ts';
import {
  failureMembers,
  type Receipt,
  type ReplyIdentity,
  type ReplyOptions,
  type StreamEncoder,
  type SvcRouting,
  type SvcUsage,
} from '../contract.ts';
import { escapeText, textDeltas } from '../text-deltas.ts';
import { hasAddress, urlCitation } from './citation.ts';
import { chatError } from './error.ts';
import { knowsFunctions, toolCall } from './functions.ts';
import { chatUsage, completionId } from './usage.ts';

const done = 'data: [DONE]\n\n';
const unfinished = ',"logprobs":null,"finish_reason":null}';
const roleDelta = '{"role":"assistant","content":null}';
const wordMembers = {
  text: 'content',
  refusal: 'refusal',
  reasoning: 'reasoning_content',
} as const;

type WordEvent = ModelEvent & { type: keyof typeof wordMembers };

export class ChatStreamEncoder implements StreamEncoder {
  readonly #includeUsage: boolean;
  /** The client knows functions, and no tools. */
  readonly #isOld: boolean;
  /** `data: {…,` up to the members that differ. */
  readonly #head: string;
  readonly #open: string;
  readonly #close: string;
  readonly #textOpen: string;
  readonly #textClose: string;
  /** Calls whose arguments are free text. */
  #custom: Set<number> | null = null;
  #roleSent = false;
  #finishReason: FinishReason | 'function_call' = 'stop';

  constructor(identity: ReplyIdentity, { includeUsage, request }: ReplyOptions) {
    this.#includeUsage = includeUsage;
    this.#isOld = knowsFunctions(request.source.body);
    const id = JSON.stringify(completionId(identity.requestId));
    const model = JSON.stringify(identity.model);
    const created = `"object":"chat.completion.chunk","created":${identity.createdAt}`;
    this.#head = `data: {"id":${id},${created},"model":${model},`;
    this.#open = `${this.#head}"choices":[{"index":0,"delta":`;
    this.#close = `${unfinished}]${this.#tail()}`;
    this.#textOpen = flat(`${this.#open}{"content":"`);
    this.#textClose = flat(`"}${this.#close}`);
  }

  events(events: readonly ModelEvent[]): string {
    let text = '';
    for (let at = 0; at < events.length; at += 1) {
      const event = events[at];
      const next = events[at + 1];
      if (event === undefined) continue;
      if (next?.type === 'extra' && 'text' in event && event.type !== 'tool_arguments') {
        // Of a run it belongs to the last text.
        if (isRun(event)) text += this.events([...singles([event]), next]);
        else text += this.#extra(next, wordsOf(event));
        at += 1;
      } else if (event.type === 'text' && this.#roleSent) {
        text += textDeltas(event, this.#textOpen, this.#textClose);
      } else if (isRun(event)) text += this.events(singles([event]));
      else text += this.#event(event);
    }
    return text;
  }

  /** Behind the role: clients take whose message it is from the first chunk (@langchain/openai). */
  progress(progress: Progress): string {
    const member = `"svc_progress":${JSON.stringify(progress)}`;
    return `${this.#role()}${this.#open}{}${unfinished}],${member}${this.#tail()}`;
  }

  finish(receipt: Receipt): string {
    const { svcRouting } = receipt;
    const routing = svcRouting === null ? '' : `,"svc_routing":${JSON.stringify(svcRouting)}`;
    const svcUsage = `,"svc_usage":${JSON.stringify(receipt.svcUsage)}${routing}`;
    const finished = `,"logprobs":null,"finish_reason":"${this.#finishReason}"}`;
    const last = `${this.#role()}${this.#open}{}${finished}]`;
    if (!this.#includeUsage) return `${last}${svcUsage}}\n\n${done}`;
    const usage = JSON.stringify(chatUsage(receipt.usage));
    const usageChunk = `${this.#head}"choices":[],"usage":${usage}${svcUsage}}\n\n`;
    return last + this.#tail() + usageChunk + done;
  }

  failure(
    problem: Problem,
    svcUsage: SvcUsage | null,
    _answer: Answer,
    svcRouting: SvcRouting | null,
  ): string {
    const members = { error: chatError(problem), ...failureMembers(svcUsage, svcRouting) };
    return `data: ${JSON.stringify(members)}\n\n${done}`;
  }

  #event(event: ModelEvent): string {
    switch (event.type) {
      case 'start':
        return this.#role();
      case 'text':
        return this.#delta(`{"content":"${escapeText(event.text)}"}`);
      case 'refusal':
        return this.#delta(`{"refusal":"${escapeText(event.text)}"}`);
      case 'reasoning':
        return this.#delta(JSON.stringify(wordsOf(event)));
      case 'tool_call': {
        const { index, id, name, native, freeText } = event;
        if (this.#isOld) return this.#functionCall(index, JSON.stringify({ name, arguments: '' }));
        const call: Record<string, unknown> = {
          index,
          ...toolCall({ id, name, arguments: '', native, freeText }),
        };
        if (call.type === 'custom') {
          this.#custom ??= new Set();
          this.#custom.add(index);
        }
        return this.#delta(`{"tool_calls":[${JSON.stringify(call)}]}`);
      }
      case 'tool_arguments': {
        const fragment = escapeText(event.text);
        if (this.#custom?.has(event.index)) {
          const members = `{"index":${event.index},"custom":{"input":"${fragment}"}}`;
          return this.#delta(`{"tool_calls":[${members}]}`);
        }
        if (this.#isOld) return this.#functionCall(event.index, `{"arguments":"${fragment}"}`);
        return this.#delta(
          `{"tool_calls":[{"index":${event.index},"function":{"arguments":"${fragment}"}}]}`,
        );
      }
      case 'extra':
        return this.#extra(event, {});
      case 'citation':
        if (!hasAddress(event.citation)) return '';
        return this.#delta(`{"annotations":[${JSON.stringify(urlCitation(event.citation))}]}`);
      case 'finish':
        this.#finishReason =
          this.#isOld && event.reason === 'tool_calls' ? 'function_call' : event.reason;
        return '';
      default:
        return '';
    }
  }

  /** In one chunk with the words before it: its log probabilities, for example, are theirs. */
  #extra(extra: ModelEvent & { type: 'extra' }, words: Record<string, string>): string {
    const delta = { ...words, ...extra.delta };
    const choice = { index: 0, delta, logprobs: null, finish_reason: null, ...extra.choice };
    const members = `"choices":[${JSON.stringify(choice)}]`;
    return this.#role() + this.#head + members + this.#tail();
  }

  /** An answer has no place for another than the first. */
  #functionCall(index: number, members: string): string {
    return index === 0 ? this.#delta(`{"function_call":${members}}`) : '';
  }

  #delta(delta: string): string {
    return this.#role() + this.#open + delta + this.#close;
  }

  /** The chunk with the role, once. Its content is null: tool calls may follow instead of text. */
  #role(): string {
    if (this.#roleSent) return '';
    this.#roleSent = true;
    return this.#open + roleDelta + this.#close;
  }

  /** With include_usage every chunk but the last has a null usage, as the official server's. */
  #tail(): string {
    return this.#includeUsage ? ',"usage":null}\n\n' : '}\n\n';
  }
}

/** Reasoning has one name on all routes, and beside it the one that its server has given it. */
function wordsOf(event: WordEvent): Record<string, string> {
  const { type, text } = event;
  if (type === 'reasoning' && event.member !== undefined) {
    return { reasoning_content: text, [event.member]: text };
  }
  return { [wordMembers[type]]: text };
}
