// Speech that was kept for the owner of its idempotency key, from the disk as the client takes it.
import type { StoredAudio } from '../../actors/audio/spec.ts';
import { findPrivateFile } from '../../media/blobs/private-file.ts';
import type { Reply } from '../../runtime/http/route.ts';
import { Problem } from '../../runtime/problem.ts';
import type { Services } from '../services.ts';

/** @throws Problem conflict when the file is gone */
export async function storedSpeech(
  { audio, log }: Pick<Services, 'audio' | 'log'>,
  stored: StoredAudio,
  headers: Record<string, string>,
): Promise<Reply> {
  if (stored.type !== 'speech') throw new Error('a transcript is no speech');
  const file = await findPrivateFile(audio.keptFolder, stored.file);
  if (file === null || file.bytes !== stored.bytes) {
    throw new Problem('conflict', { message: 'The audio of this request is not kept any more.' });
  }
  return {
    status: 200,
    mediaType: stored.media_type,
    headers,
    // Not opened before: a client that has left meanwhile is poured nothing.
    pour(stream) {
      const kept = file.read();
      kept.on('data', (bytes) => {
        if (!stream.write(Buffer.from(bytes))) kept.pause();
      });
      kept.on('end', () => stream.end());
      kept.on('error', (error) => {
        log.warn({ err: error }, 'kept audio cannot be read');
        stream.fail();
      });
      stream.onDrain(() => kept.resume());
      stream.onClose(() => kept.destroy());
    },
  };
}
