// The body of a long upstream call: written and made into bytes piece by piece, in turns of the
// loop of their own, and gone piece by piece as it is sent: undici keeps what it is given.
import { Readable } from 'node:stream';
import { jsonPieces, pieceEnd } from '../../runtime/http/json-pieces.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { ownTurn, pausing } from '../../runtime/turns.ts';
import type { UpstreamCall } from '../providers/generation/contract.ts';

/** A call whose body is a text already. */
export type WrittenCall = Omit<UpstreamCall, 'body'> & { body: string };

/** A call whose body is bytes already, with their length among its headers. */
export type LongCall = Omit<UpstreamCall, 'body'> & { body: Buffer[] };

const pieceCharacters = 128 * 1_024;

export function isLong({ body }: WrittenCall): boolean {
  return body.length >= fixedLimits.body.longBytesMin;
}

/** The body as UTF-8 bytes. */
export async function inPieces(call: UpstreamCall | WrittenCall): Promise<LongCall> {
  const { body, ...rest } = call;
  const texts = typeof body === 'string' ? textPieces(body) : jsonPieces(body, pieceCharacters);
  // What the caller did before counts as well.
  await ownTurn();
  const pause = pausing();
  const pieces: Buffer[] = [];
  let bytes = 0;
  for (const text of texts) {
    const piece = Buffer.from(text);
    pieces.push(piece);
    bytes += piece.length;
    await pause();
  }
  const headers = { ...rest.headers, 'content-length': String(bytes) };
  return { ...rest, headers, body: pieces };
}

function* textPieces(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text, start, pieceCharacters);
    yield text.slice(start, end);
    start = end;
  }
}

/** A piece a turn: a connection that takes all of them at once would block the loop. */
export function spent(pieces: Buffer[]): Readable {
  return new Readable({
    highWaterMark: 1,
    read() {
      void ownTurn().then(() => {
        if (this.destroyed) return;
        this.push(pieces.shift() ?? null);
      });
    },
  });
}
