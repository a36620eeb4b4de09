// The stream of a stored response, told from the beginning or from any event on, while it runs and
// afterwards alike.
import { setTimeout as sleep } from 'node:timers/promises';
import { attachSink } from '../../actors/generation/open.ts';
import type { GenerationEnd } from '../../actors/subscriber/protocol.ts';
import { ReplySink } from '../../actors/subscriber/reply-sink.ts';
import { endText } from '../../actors/subscriber/subscriber.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { findGeneration } from '../../db/generations.ts';
import type { StreamEncoder } from '../../media/model/dialects/contract.ts';
import { responsesDialect } from '../../media/model/dialects/responses/dialect.ts';
import { replayParts } from '../../media/model/replay.ts';
import type { EventStream, Exchange, Reply } from '../../runtime/http/route.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { Problem } from '../../runtime/problem.ts';
import { streamReply } from '../generations/reply.ts';
import type { Services } from '../services.ts';
import { identityOf, notFound, readEnd, type Stored } from './stored.ts';

const roundsMax = 5;

/** Streams the response behind the event of this number (null: from the first one). */
export async function streamStored(
  services: Pick<Services, 'sql' | 'catalog' | 'generations' | 'seals'>,
  stored: Stored,
  startingAfter: number | null,
  exchange: Exchange,
): Promise<Reply> {
  const { request } = stored;
  let row = stored.generation;
  const seals = services.seals(row.accountId);
  const headers = { 'x-svc-request-id': row.id };
  for (let round = 0; round < roundsMax; round += 1) {
    // Of a process that died nothing is left but that it did.
    const isLost = row.status === 'failed' && row.answerJson === null;
    const options = { includeUsage: true, request, seals, startingAfter, isLost };
    const encoder = responsesDialect.encoder(identityOf(row), options);
    if (row.status !== 'running') {
      return storedReply(encoder, readEnd(services, row, stored.walletType), headers);
    }
    const sink = new ReplySink(encoder);
    const clientGone = await attachSink(services.generations, row.id, sink);
    if (clientGone !== null) {
      exchange.onAbort(clientGone);
      const opening = await sink.opening;
      if (opening.kind === 'end') {
        if (!stored.background && opening.end.status === 'failed') throw notFound();
        return storedReply(encoder, opening.end, headers);
      }
      return streamReply(responsesDialect, { sink, clientGone }, headers);
    }
    // It has just ended: its end is in the database, or about to be.
    await sleep(10 * 2 ** round);
    const found = await withDeadline(findGeneration(services.sql, row.accountId, row.id));
    if (found === null) throw notFound();
    row = found;
  }
  throw new Problem('conflict', {
    message: 'The response is just ending. Try again.',
    headers: { 'retry-after': '1' },
  });
}

/** Events that are written in one turn: a long answer is no pause for the neighbours. */
const runLengthMax = 256;

function storedReply(
  encoder: StreamEncoder,
  end: GenerationEnd,
  headers: Record<string, string>,
): Reply {
  if (end.status === 'duplicate') throw notFound();
  return {
    status: 200,
    headers,
    keepAlive: { everyMs: fixedLimits.http.keepAliveMs, text: responsesDialect.keepAlive },
    stream: (stream) => pump(stream, storedPieces(encoder, end)),
  };
}

function* storedPieces(
  encoder: StreamEncoder,
  end: Exclude<GenerationEnd, { status: 'duplicate' }>,
): Generator<string, void> {
  for (const part of replayParts(end.answer)) {
    if ('progress' in part) yield encoder.progress(part.progress);
    else {
      for (let start = 0; start < part.events.length; start += runLengthMax) {
        yield encoder.events(part.events.slice(start, start + runLengthMax));
      }
    }
  }
  yield endText(encoder, end);
}

/** Writes as fast as the client reads. */
function pump(stream: EventStream, pieces: Iterator<string, void>): void {
  let isWaiting = false;
  const next = () => {
    if (stream.closed) return;
    const piece = pieces.next();
    if (piece.done === true) {
      stream.end();
      return;
    }
    if (piece.value !== '') stream.write(piece.value);
    isWaiting = stream.bufferedBytes > 0;
    if (!isWaiting) setImmediate(next);
  };
  stream.onDrain(() => {
    if (!isWaiting) return;
    isWaiting = false;
    next();
  });
  next();
}
