// The blob store of one folder: a file an object. Whoever finds a file under its name finds all of
// it, since it is written under another one. Nothing in a name comes from a client.
import { strict as assert } from 'node:assert';
import { type FileHandle, open, opendir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isId, timeOfId } from '../../runtime/ids.ts';
import { BlobFault, type BlobStore, type ListedBlob } from './contract.ts';
import {
  closeQuietly,
  isAbsent,
  readExactly,
  reading,
  writeExactly,
  writing,
} from './file-faults.ts';
import { type FileStoreOptions, putFile } from './file-put.ts';
import {
  type FoundHead,
  headBytes,
  readHead,
  type Sealers,
  slotOffsets,
  wipedSlot,
  writeSlot,
} from './head.ts';
import {
  openPiece,
  pieceBytes,
  pieceCount,
  plainBytes,
  sealedBytes,
  sealedPieceBytes,
} from './pieces.ts';
import { sweepPrivateFolder } from './private-file.ts';

export function createFileBlobStore(options: FileStoreOptions): BlobStore {
  const { folder, sealers } = options;
  const openFile = (id: string, flags: 'r' | 'r+') => openObject(folder, sealers, id, flags);
  return {
    put: (stream, bounds) => putFile(options, stream, bounds),
    async *read(id, from, to) {
      const object = await openFile(id, 'r');
      try {
        yield* readRange(object, from, to);
      } finally {
        await closeQuietly(object.handle);
      }
    },
    async stat(id) {
      const { handle, found, storedAtMs } = await openFile(id, 'r');
      await closeQuietly(handle);
      return { id, bytes: found.bytes, sha256: found.sha256, storedAtMs };
    },
    remove: (id) => removeFile(folder, id),
    list: ({ storedBeforeMs = Number.POSITIVE_INFINITY } = {}) => listFiles(folder, storedBeforeMs),
    async rewrap(id) {
      const object = await openFile(id, 'r+');
      try {
        return await writing(() => rewrapFile(object, sealers));
      } finally {
        await closeQuietly(object.handle);
      }
    },
    dropUnfinished: (ageMs) =>
      sweepPrivateFolder(folder, { keptMs: Number.POSITIVE_INFINITY, unfinishedMs: ageMs }),
  };
}

/** Ids come from rows: whatever else stands there must not become a path. */
function pathOf(folder: string, id: string): string {
  if (!isId(id, 'blob')) throw new BlobFault('missing', 'no object has such an id');
  return join(folder, id);
}

interface OpenObject {
  id: string;
  handle: FileHandle;
  found: FoundHead;
  storedAtMs: number;
}

/** An object that is all there, as far as its length says it. */
async function openObject(
  folder: string,
  sealers: Sealers,
  id: string,
  flags: 'r' | 'r+',
): Promise<OpenObject> {
  const path = pathOf(folder, id);
  const handle = await (flags === 'r' ? reading(() => open(path, flags), id) : openToWrite(path));
  try {
    const { size, mtimeMs } = await reading(() => handle.stat(), id);
    const readFound = async () => {
      const head = Buffer.alloc(Math.min(headBytes, size));
      await readExactly(handle, head, 0, id);
      return readHead(sealers, id, head);
    };
    // A read is not atomic: a rotation may have changed one slot behind it and the other before it.
    const found = await readFound().catch(readFound);
    if (size !== headBytes + sealedBytes(found.bytes)) {
      throw new BlobFault('damaged', `${id} is not as long as it was stored`);
    }
    return { id, handle, found, storedAtMs: mtimeMs };
  } catch (error) {
    await closeQuietly(handle);
    throw error;
  }
}

async function openToWrite(path: string): Promise<FileHandle> {
  return writing(() =>
    open(path, 'r+').catch((error: unknown) => {
      if (isAbsent(error)) throw new BlobFault('missing', 'the object is not there');
      throw error;
    }),
  );
}

/** What is read at once: a look at the disk costs as much as opening a piece. */
const piecesAtOnce = 4;

/** The pieces that a range touches, and none beside them. */
async function* readRange(
  { id, handle, found }: OpenObject,
  from: number,
  to: number,
): AsyncGenerator<Buffer, void, undefined> {
  const { dataKey, bytes } = found;
  assert.ok(Number.isSafeInteger(from) && from >= 0 && from <= to, 'a range is in order');
  assert.ok(Number.isSafeInteger(to) && to <= bytes, 'a range ends within its object');
  if (from === to && bytes > 0) return;
  const lastIndex = pieceCount(bytes) - 1;
  const firstIndex = Math.floor(from / pieceBytes);
  // An empty object has one piece, which is opened, too.
  const endIndex = Math.max(firstIndex + 1, Math.ceil(to / pieceBytes));
  const room = Buffer.allocUnsafe(Math.min(endIndex - firstIndex, piecesAtOnce) * sealedPieceBytes);
  for (let index = firstIndex; index < endIndex; index += piecesAtOnce) {
    const nextIndex = Math.min(index + piecesAtOnce, endIndex);
    const sealedEnd = Math.min(nextIndex * sealedPieceBytes, sealedBytes(bytes));
    const sealed = room.subarray(0, sealedEnd - index * sealedPieceBytes);
    await readExactly(handle, sealed, headBytes + index * sealedPieceBytes, id);
    for (let at = index; at < nextIndex; at += 1) {
      const sealedAt = (at - index) * sealedPieceBytes;
      const piece = sealed.subarray(sealedAt, sealedAt + sealedPieceBytes);
      const place = { objectId: id, index: at, isLast: at === lastIndex };
      const plain = openPiece(dataKey, place, piece);
      if (plain === null) throw new BlobFault('damaged', `piece ${at} of ${id} is damaged`);
      const start = at * pieceBytes;
      const part = plain.subarray(Math.max(0, from - start), to - start);
      if (part.length > 0) yield part;
    }
  }
}

/** Wiped before it is unlinked: what a crash leaves is an object without a key, which is none. */
async function removeFile(folder: string, id: string): Promise<boolean> {
  const path = pathOf(folder, id);
  return writing(async () => {
    const handle = await open(path, 'r+').catch((error: unknown) => {
      if (isAbsent(error)) return null;
      throw error;
    });
    if (handle === null) return false;
    try {
      for (const offset of slotOffsets) await writeExactly(handle, [wipedSlot], offset);
      await handle.sync();
    } finally {
      await closeQuietly(handle);
    }
    await unlink(path).catch((error: unknown) => {
      // Two may remove it at once.
      if (!isAbsent(error)) throw error;
    });
    return true;
  });
}

/** A file is younger than the id that is its name, so young ones need no look. */
async function* listFiles(
  folder: string,
  storedBeforeMs: number,
): AsyncGenerator<ListedBlob, void, undefined> {
  const entries = await reading(() => opendir(folder, { bufferSize: 256 }), 'the folder').catch(
    ifMissing([]),
  );
  for await (const { name: id } of entries) {
    if (!isId(id, 'blob') || timeOfId(id) >= storedBeforeMs) continue;
    const file = await reading(() => stat(join(folder, id)), id).catch(ifMissing(null));
    if (file === null || file.mtimeMs >= storedBeforeMs) continue;
    yield { id, bytes: plainBytes(file.size - headBytes), storedAtMs: file.mtimeMs };
  }
}

function ifMissing<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof BlobFault && error.reason === 'missing') return instead;
    throw error;
  };
}

/** The new slot is durable before the old one goes. The time of storing stays. */
async function rewrapFile(
  { id, handle, found, storedAtMs }: OpenObject,
  sealers: Sealers,
): Promise<boolean> {
  const { slot, isCurrent, isOtherWiped } = found;
  if (isCurrent && isOtherWiped) return false;
  const storedAt = new Date(storedAtMs);
  const kept = isCurrent ? slot : other(slot);
  if (!isCurrent) {
    await writeExactly(handle, [writeSlot(sealers[0], id, found)], slotOffsets[kept]);
    await handle.sync();
  }
  await writeExactly(handle, [wipedSlot], slotOffsets[other(kept)]);
  await handle.sync();
  await handle.utimes(storedAt, storedAt);
  return !isCurrent;
}

function other(slot: 0 | 1): 0 | 1 {
  return slot === 0 ? 1 : 0;
}
