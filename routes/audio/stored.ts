// Speech that was kept for the owner of its idempotency key, from the disk as the client takes it.
import type { AudioServices } from '../../actors/audio/open.ts';
import type { StoredAudio } from '../../actors/audio/spec.ts';
import { BlobFault } from '../../media/blobs/contract.ts';
import { findPrivateFile } from '../../media/blobs/private-file.ts';
import { pourPieces } from '../../runtime/http/bytes.ts';
import type { Reply } from '../../runtime/http/route.ts';
import { isId } from '../../runtime/ids.ts';
import { Problem } from '../../runtime/problem.ts';
import type { Services } from '../services.ts';

/** Not opened before it is read: a client that has left meanwhile is poured nothing. */
interface Kept {
  bytes: number;
  read(): AsyncIterator<Buffer, unknown, undefined>;
}

/** @throws Problem conflict when it is gone, dependency_unavailable when it cannot be read */
export async function storedSpeech(
  { audio, log }: Pick<Services, 'audio' | 'log'>,
  stored: StoredAudio,
  headers: Record<string, string>,
): Promise<Reply> {
  if (stored.type !== 'speech') throw new Error('a transcript is no speech');
  const kept = await findKept(audio, stored.file).catch((error: unknown) => {
    log.warn({ err: error }, 'kept audio cannot be read');
    throw error instanceof BlobFault ? new Problem('dependency_unavailable') : error;
  });
  if (kept === null || kept.bytes !== stored.bytes) {
    throw new Problem('conflict', { message: 'The audio of this request is not kept any more.' });
  }
  return {
    status: 200,
    mediaType: stored.media_type,
    headers,
    pour(stream) {
      void pourPieces(kept.read(), stream).catch((error: unknown) => {
        log.warn({ err: error }, 'kept audio cannot be read');
        stream.fail();
      });
    },
  };
}

/** Null: it is gone. @throws BlobFault */
async function findKept(
  { blobs, formerFolder }: Pick<AudioServices, 'blobs' | 'formerFolder'>,
  file: string,
): Promise<Kept | null> {
  if (!isId(file, 'blob')) {
    const former = await findPrivateFile(formerFolder, file);
    return former && { bytes: former.bytes, read: () => former.read()[Symbol.asyncIterator]() };
  }
  try {
    const { bytes } = await blobs.stat(file);
    return { bytes, read: () => blobs.read(file, 0, bytes) };
  } catch (error) {
    if (error instanceof BlobFault && error.reason === 'missing') return null;
    throw error;
  }
}
