// How a stream becomes a file: piece by piece under another name, the head last, then durable, then
// renamed. A crash leaves a file of the other name, without a key.
import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isId, newId } from '../../runtime/ids.ts';
import { BlobFault, type PutBounds, type StoredBlob } from './contract.ts';
import { closeQuietly, writeExactly, writing } from './file-faults.ts';
import { headBytes, type Sealers, slotOffsets, writeSlot } from './head.ts';
import { pieceBytes, sealedPieceBytes, sealPiece } from './pieces.ts';
import { partialEnding } from './private-file.ts';

export interface FileStoreOptions {
  folder: string;
  sealers: Sealers;
  /** Stands in the ids that are made here. */
  node: number;
}

export async function putFile(
  { folder, sealers, node }: FileStoreOptions,
  stream: AsyncIterable<Uint8Array>,
  { bytesMax, signal, id = newId('blob', node) }: PutBounds,
): Promise<StoredBlob> {
  if (!isId(id, 'blob')) throw new Error('an object has an id of prefix blob');
  signal.throwIfAborted();
  const path = join(folder, id);
  const partial = path + partialEnding;
  const handle = await writing(() => open(partial, 'wx', 0o600));
  try {
    const dataKey = randomBytes(32);
    const chunks = abortable(stream, signal);
    const { bytes, sha256 } = await writePieces(handle, { id, dataKey, bytesMax }, chunks);
    signal.throwIfAborted();
    await writing(async () => {
      const slot = writeSlot(sealers[0], id, { dataKey, bytes, sha256 });
      await writeExactly(handle, [slot], slotOffsets[0]);
      await handle.sync();
      await handle.close();
      await rename(partial, path);
      await syncFolder(folder);
    });
    return { id, bytes, sha256 };
  } catch (error) {
    await closeQuietly(handle);
    await rm(partial, { force: true }).catch(() => undefined);
    throw error;
  }
}

interface PieceTarget {
  id: string;
  dataKey: Buffer;
  bytesMax: number;
}

/** A full piece waits for the next byte: only the end says that it is the last one. */
async function writePieces(
  handle: FileHandle,
  { id, dataKey, bytesMax }: PieceTarget,
  chunks: AsyncIterable<Uint8Array>,
): Promise<Omit<StoredBlob, 'id'>> {
  const hash = createHash('sha256');
  const plain = Buffer.allocUnsafe(pieceBytes);
  let index = 0;
  let filled = 0;
  let bytes = 0;
  const flush = async (isLast: boolean) => {
    const piece = plain.subarray(0, filled);
    hash.update(piece);
    const sealed = sealPiece(dataKey, { objectId: id, index, isLast }, piece);
    const position = headBytes + index * sealedPieceBytes;
    await writing(() => writeExactly(handle, sealed, position));
    index += 1;
    filled = 0;
  };
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new BlobFault('too_large', `over ${bytesMax} bytes came`);
    for (let taken = 0; taken < chunk.length; ) {
      if (filled === pieceBytes) await flush(false);
      const part = chunk.subarray(taken, taken + pieceBytes - filled);
      plain.set(part, filled);
      filled += part.length;
      taken += part.length;
    }
  }
  await flush(true);
  return { bytes, sha256: hash.digest('hex') };
}

/** The stream until the signal: one that yields nothing more is not waited for. */
async function* abortable(
  stream: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const iterator = stream[Symbol.asyncIterator]();
  let isOver = false;
  try {
    for (;;) {
      const next = await untilAborted(iterator.next(), signal);
      if (next.done === true) {
        isOver = true;
        return;
      }
      yield next.value;
    }
  } catch (error) {
    // Its own error has ended it, an aborted one is ended below.
    isOver = !signal.aborted;
    throw error;
  } finally {
    if (!isOver) Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** A rename is durable when its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await closeQuietly(handle);
  }
}
