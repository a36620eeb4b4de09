// Gives uWebSockets.js no more at a time than it holds back while corked. The surprise is why: it
// drops all of a longer write where the length of its chunk, which it has held back, does not fit
// into the socket any more (its commit 6b7f354 mends that, later than our binaries).
import type { HttpResponse } from 'uWebSockets.js';

/** Of 16 KiB: leaves room for a chunk's length, the reply's end, and headers that uWS adds. */
export const pieceBytesMax = 16 * 1_024 - 256;
const lineFeed = 10;

// Of the write that is under way: a closure for each would be one for each delta.
let target: HttpResponse | null = null;
let piece: string | Uint8Array = '';
let isTaken = true;

const writePiece = () => {
  isTaken = target?.write(piece) === true;
};

/** Each piece in a cork of its own. False: the socket has not taken all that came before. */
export function writePieces(response: HttpResponse, data: string | Uint8Array): boolean {
  write(response, isShort(data) ? data : restOf(response, data));
  return isTaken;
}

/** The same, and the end of the reply. `beforeLast` runs when only the last piece is left. */
export function endPieces(response: HttpResponse, text: string, beforeLast: () => void): void {
  const last = isShort(text) ? text : restOf(response, text);
  beforeLast();
  response.cork(() => response.end(last));
}

/** Sends what uWS has kept, in `onWritable`: there it does so only where somebody corks again. */
export function sendKept(response: HttpResponse): void {
  response.cork(nothing);
}

const nothing = () => undefined;

/** A character has three bytes at most. */
function isShort(data: string | Uint8Array): boolean {
  return (typeof data === 'string' ? 3 : 1) * data.length <= pieceBytesMax;
}

/** Writes all pieces but the last one, which it returns. They end with a line where they can. */
function restOf(response: HttpResponse, data: string | Uint8Array): Uint8Array {
  let rest = typeof data === 'string' ? Buffer.from(data) : data;
  while (rest.length > pieceBytesMax) {
    const lines = rest.subarray(0, pieceBytesMax).lastIndexOf(lineFeed) + 1;
    const length = lines === 0 ? pieceBytesMax : lines;
    write(response, rest.subarray(0, length));
    rest = rest.subarray(length);
  }
  return rest;
}

function write(response: HttpResponse, data: string | Uint8Array): void {
  target = response;
  piece = data;
  response.cork(writePiece);
  target = null;
  piece = '';
}
