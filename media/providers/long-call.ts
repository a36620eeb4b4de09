// The body of a long upstream call: made into bytes piece by piece, in turns of the loop of their
// own, and gone piece by piece as it is sent: undici keeps what it is given to the call's end.
import { Readable } from 'node:stream';
import { fixedLimits } from '../../runtime/limits.ts';
import { ownTurn, pausing } from '../../runtime/turns.ts';
import type { UpstreamCall } from './contract.ts';

/** A call whose body is bytes already, with their length among its headers. */
export type LongCall = Omit<UpstreamCall, 'body'> & { body: Buffer[] };

const pieceCharacters = 128 * 1_024;

export function isLong({ body }: UpstreamCall): boolean {
  return body.length >= fixedLimits.body.longBytesMin;
}

/** A long body as UTF-8 bytes; a short one as it is. */
export async function inPieces(call: UpstreamCall): Promise<UpstreamCall | LongCall> {
  const { body, ...rest } = call;
  if (!isLong(call)) return call;
  // What the caller did before counts as well.
  await ownTurn();
  const pause = pausing();
  const pieces: Buffer[] = [];
  let bytes = 0;
  for (let start = 0; start < body.length; ) {
    await pause();
    const end = pieceEnd(body, start);
    const piece = Buffer.from(body.slice(start, end));
    pieces.push(piece);
    bytes += piece.length;
    start = end;
  }
  const headers = { ...rest.headers, 'content-length': String(bytes) };
  return { ...rest, headers, body: pieces };
}

/** Never between the halves of a surrogate pair: each would become a replacement character. */
function pieceEnd(text: string, start: number): number {
  const end = start + pieceCharacters;
  if (end >= text.length) return text.length;
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last < 0xdc00 ? end - 1 : end;
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
