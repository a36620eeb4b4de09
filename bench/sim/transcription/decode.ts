// A recording as samples: plain WAV is read here, everything else by ffmpeg from a private file,
// since some containers can only be read with seeking.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runFfmpeg } from '../sound/ffmpeg.ts';
import { readWav } from '../sound/wav.ts';

const decodedRateHz = 24_000;

export interface Recording {
  samples: Int16Array;
  rateHz: number;
}

/** Null: no audio that ffmpeg knows. */
export async function decode(bytes: Buffer): Promise<Recording | null> {
  const wav = readWav(bytes);
  if (wav !== null) return { samples: samplesOf(wav.pcm), rateHz: wav.rateHz };
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-sim-'));
  try {
    const path = join(folder, 'recording');
    await writeFile(path, bytes);
    const pcm = await runFfmpeg(
      [
        ...['-protocol_whitelist', 'file,pipe', '-i', path, '-vn', '-ac', '1'],
        ...['-ar', String(decodedRateHz), '-f', 's16le', 'pipe:1'],
      ],
      Buffer.alloc(0),
    );
    return pcm === null ? null : { samples: samplesOf(pcm), rateHz: decodedRateHz };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function samplesOf(pcm: Buffer): Int16Array {
  const length = pcm.length - (pcm.length % 2);
  return new Int16Array(pcm.buffer.slice(pcm.byteOffset, pcm.byteOffset + length));
}
