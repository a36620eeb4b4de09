// Writes one subscriber's legacy stream: named events `progress`, `delta`, then `done` with the
// whole reply, or `error` in the envelope of its route.
import type { Problem } from '../../../../runtime/problem.ts';
import type { Answer } from '../../answer.ts';
import type { ModelEvent, Progress } from '../../events.ts';
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
import { legacyReply, publicRequestId } from './reply.ts';

const deltaOpen = 'event: delta\ndata: {"text":"';
const deltaClose = '"}\n\n';

export class LegacyStreamEncoder implements StreamEncoder {
  readonly #identity: ReplyIdentity;
  readonly #options: Pick<ReplyOptions, 'request'>;

  constructor(identity: ReplyIdentity, options: Pick<ReplyOptions, 'request'>) {
    this.#identity = identity;
    this.#options = options;
  }

  events(events: readonly ModelEvent[]): string {
    let text = '';
    for (const event of events) {
      if (event.type !== 'text' && event.type !== 'refusal') continue;
      if (event.type === 'text') text += textDeltas(event, deltaOpen, deltaClose);
      else text += deltaOpen + escapeText(event.text) + deltaClose;
    }
    return text;
  }

  progress(progress: Progress): string {
    return named('progress', progress);
  }

  finish(receipt: Receipt, answer: Answer): string {
    return named('done', legacyReply(this.#identity, this.#options, answer, receipt));
  }

  failure(
    problem: Problem,
    svcUsage: SvcUsage | null,
    _answer: Answer,
    svcRouting: SvcRouting | null,
  ): string {
    const { code, message, details } = problem;
    const request_id = publicRequestId(this.#identity, this.#options);
    const error = { code, message, request_id, ...(details === undefined ? {} : { details }) };
    return named('error', { ok: false, error, ...failureMembers(svcUsage, svcRouting) });
  }
}

/** Amounts are bigint inside and JSON integers outside (below 2^53). */
function named(event: string, data: unknown): string {
  const json = JSON.stringify(data, (_name, value: unknown) =>
    typeof value === 'bigint' ? Number(value) : value,
  );
  return `event: ${event}\ndata: ${json}\n\n`;
}
