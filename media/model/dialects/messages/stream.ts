// Writes one subscriber's Messages stream. A text event is three strings joined: what stands around
// the text changes only with its block. Blocks are written one after the other, as this format has
// them; what comes early for a later one waits in `BlockQueue`.
import type { Problem } from '../../../../runtime/problem.ts';
import type { Answer } from '../../answer.ts';
import type { ModelEvent, Progress } from '../../events.ts';
import { isRun, singles } from '../../text-run.ts';
import { estimateInputTokens } from '../../tokens.ts';
import { noUsage, type TokenUsage } from '../../usage.ts';
import {
  failureMembers,
  type Receipt,
  type ReplyIdentity,
  type ReplyOptions,
  type StreamEncoder,
  type SvcRouting,
  type SvcUsage,
} from '../contract.ts';
import { textDeltas } from '../text-deltas.ts';
import { calledBlock, citationBlock, signatureOf } from './blocks.ts';
import { messagesError } from './error.ts';
import { BlockQueue, eventOf, sse } from './queue.ts';
import { stopMembers } from './stop.ts';
import { messagesUsage } from './usage.ts';
import { openMessage, ownEnd, svcMembers } from './whole.ts';

export const pingEvent = 'event: ping\ndata: {"type":"ping"}\n\n';

export class MessagesStreamEncoder implements StreamEncoder {
  readonly #identity: ReplyIdentity;
  readonly #options: ReplyOptions;
  readonly #queue = new BlockQueue();
  #started = false;
  /** Blocks of text are told by their borders. */
  #bordered = false;

  constructor(identity: ReplyIdentity, options: ReplyOptions) {
    this.#identity = identity;
    this.#options = options;
  }

  events(events: readonly ModelEvent[]): string {
    const queue = this.#queue;
    let text = this.#started ? '' : this.#start(events);
    for (const event of events) {
      if (event.type === 'text' && queue.textOpen !== '') {
        text += textDeltas(event, queue.textOpen, queue.textClose);
      } else if (isRun(event)) text += this.events(singles([event]));
      else {
        this.#event(event);
        text += queue.take();
      }
    }
    return text;
  }

  progress(progress: Progress): string {
    const data = JSON.stringify({ type: 'ping', svc_progress: progress });
    return `event: ping\ndata: ${data}\n\n`;
  }

  finish(receipt: Receipt, answer: Answer): string {
    const svcJson = JSON.stringify(svcMembers(receipt));
    const { usage: ownUsage, ...own } = ownEnd(answer);
    const usage = Object.assign(messagesUsage(receipt.usage), ownUsage);
    const delta = stopMembers(answer, this.#options.request.sampling.stop);
    const endJson = JSON.stringify(Object.assign({ delta, usage }, own));
    const begun = this.#started ? '' : this.#start([]);
    this.#queue.closeAll();
    return (
      begun +
      this.#queue.take() +
      eventOf('message_delta', `${endJson.slice(0, -1)},${svcJson.slice(1)}`) +
      eventOf('message_stop', svcJson)
    );
  }

  failure(
    problem: Problem,
    svcUsage: SvcUsage | null,
    _answer: Answer,
    svcRouting: SvcRouting | null,
  ): string {
    const { type: _type, ...error } = messagesError(problem, this.#identity.requestId);
    this.#queue.closeAll();
    return this.#queue.take() + sse('error', { ...error, ...failureMembers(svcUsage, svcRouting) });
  }

  /**
   * `message_start` tells the input as far as it is known, else as it was estimated. Of the output
   * it tells nothing: some clients add that to what the end tells.
   */
  #start(events: readonly ModelEvent[]): string {
    this.#started = true;
    const begun = events.find((event) => event.type === 'start');
    const known = begun?.usage ?? {
      ...noUsage(),
      inputTokens: estimateInputTokens(this.#options.request),
    };
    const usage: TokenUsage = noUsage();
    usage.inputTokens = known.inputTokens;
    usage.cachedInputTokens = known.cachedInputTokens;
    usage.cacheWriteTokens = known.cacheWriteTokens;
    const message = openMessage(this.#identity, usage, begun?.native);
    return sse('message_start', { message }) + pingEvent;
  }

  #event(event: ModelEvent): void {
    const queue = this.#queue;
    switch (event.type) {
      case 'text':
      case 'refusal':
        if (event.text !== '') queue.text(event.type, event.text);
        return;
      case 'reasoning':
        queue.thinking(event.text);
        return;
      case 'reasoning_end':
        queue.thinkingEnd(signatureOf(event, this.#options.seals));
        return;
      case 'citation':
        for (const citation of citationBlock(event.citation)) queue.citation(citation);
        if (!this.#bordered && event.citation.native?.format === 'messages') queue.endText();
        return;
      case 'part':
        this.#bordered = true;
        queue.beginText(event.item !== null);
        return;
      case 'tool_call':
        queue.tool(event.index, calledBlock(event, {}, this.#options.seals));
        return;
      case 'tool_arguments':
        queue.toolArguments(event.index, event.text);
        return;
      case 'native':
        if (event.index !== undefined) queue.nativeEnd(event.index);
        else queue.native(event.format === 'messages' ? event.value : null);
        return;
      case 'native_begin':
        queue.nativeBegin(event.index, event.value);
        return;
      case 'native_event':
        queue.nativeDelta(event.index, nativeDelta(event.value));
        return;
      default:
        return;
    }
  }
}

/** Deltas of the input of a call are kept under one name: see `joinDeltas`. */
function nativeDelta(value: Record<string, unknown>): Record<string, unknown> {
  if (value.type !== 'input_json_delta') return value;
  return { type: value.type, partial_json: value.delta };
}
