// Turns an opened generation into a reply of its dialect: a stream, the whole answer, or a problem.
import { strict as assert } from 'node:assert';
import type { MakeSink, Opened } from '../../actors/generation/open.ts';
import type { GenerationEnd } from '../../actors/subscriber/protocol.ts';
import { ReplySink } from '../../actors/subscriber/reply-sink.ts';
import { endText } from '../../actors/subscriber/subscriber.ts';
import type { Answer } from '../../media/model/answer.ts';
import type {
  Dialect,
  ReplyIdentity,
  ReplyOptions,
  StreamEncoder,
} from '../../media/model/dialects/contract.ts';
import { replayParts } from '../../media/model/replay.ts';
import type { Reply } from '../../runtime/http/route.ts';
import { siblingId } from '../../runtime/ids.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { plainProblem, toProblem } from '../../runtime/problem.ts';
import { droppedHeader } from './dropped-header.ts';

export interface ReplyForm {
  stream: boolean;
  options: ReplyOptions;
  /** The alias is a managed route: there will be a receipt. */
  managed: boolean;
  /** Whole replies only: what is answered as soon as a background generation is accepted. */
  accepted?: (identity: ReplyIdentity) => Record<string, unknown>;
}

/** Opens a generation and answers in the form that the client asked for. */
export async function replyTo<Body>(
  dialect: Dialect<Body>,
  form: ReplyForm,
  open: (makeSink: MakeSink) => Promise<Opened>,
): Promise<Reply> {
  const identityOf = (opened: { requestId: string; createdAtMs: number }): ReplyIdentity => ({
    requestId: opened.requestId,
    model: form.options.request.model,
    createdAt: Math.floor(opened.createdAtMs / 1_000),
  });
  const opened = await open((identity) => {
    if (!form.stream)
      return new ReplySink(null, form.accepted === undefined ? 'answer' : 'acceptance');
    return new ReplySink(dialect.encoder(identityOf(identity), form.options));
  });
  const headers = {
    'x-svc-request-id': opened.requestId,
    ...(hasReceipt(form, opened)
      ? { 'x-svc-routing-receipt-id': siblingId(opened.requestId, 'rr') }
      : {}),
    ...droppedHeader(opened.sink.dropped),
  };
  const { opening, sink } = opened;
  if (opening.kind === 'stream') return streamReply(dialect, opened, headers);
  if (opening.kind === 'accepted') {
    assert(form.accepted !== undefined, 'who wants the answer is not told that it will come');
    return { status: 200, headers, json: form.accepted(identityOf(opened)) };
  }
  const { end } = opening;
  if (form.stream && sink.encoder !== null && startsStream(end, opened.replayed)) {
    if (end.status !== 'duplicate' && opened.replayed) {
      sink.write(replayText(sink.encoder, end.answer));
    }
    sink.finish(endText(sink.encoder, end));
    return streamReply(dialect, opened, headers);
  }
  return wholeReply(dialect, form.options, identityOf(opened), end, headers);
}

/** By its alias now, or by what it was when it ran. */
function hasReceipt({ managed }: ReplyForm, { opening }: Opened): boolean {
  if (managed || opening.kind !== 'end' || !('receipt' in opening.end)) return managed;
  return opening.end.receipt.svcRouting !== null;
}

/** An end before any event is a status, unless it is the end of an answer. */
function startsStream(end: GenerationEnd, replayed: boolean): boolean {
  if (end.status === 'duplicate') return false;
  if (end.status !== 'failed') return true;
  return replayed && end.svcUsage !== null;
}

/** The answer's part of a stream, told again. */
function replayText(encoder: StreamEncoder, answer: Answer): string {
  return replayParts(answer)
    .map((part) =>
      'events' in part ? encoder.events(part.events) : encoder.progress(part.progress),
    )
    .join('');
}

/** The open stream of a sink. */
export function streamReply<Body>(
  dialect: Dialect<Body>,
  opened: Pick<Opened, 'sink' | 'clientGone'>,
  headers: Record<string, string>,
): Reply {
  return {
    status: 200,
    headers,
    keepAlive: { everyMs: fixedLimits.http.keepAliveMs, text: dialect.keepAlive },
    stream: (stream) => opened.sink.connect(stream, opened.clientGone),
  };
}

function wholeReply<Body>(
  dialect: Dialect<Body>,
  options: ReplyOptions,
  identity: ReplyIdentity,
  end: GenerationEnd,
  headers: Record<string, string>,
): Reply {
  if (end.status === 'duplicate') throw toProblem(plainProblem('conflict'));
  if (end.status === 'failed') {
    const { problem } = end;
    throw toProblem({ ...problem, headers: { ...problem.headers, ...headers } });
  }
  return { status: 200, headers, json: dialect.whole(identity, options, end.answer, end.receipt) };
}
