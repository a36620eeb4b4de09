// Brings the source into a private file: from the web, by the guard, or from the blob store.
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { findGeneratedVideo } from '../../db/generated-videos.ts';
import { BlobFault } from '../../media/blobs/contract.ts';
import { OutboundFault } from '../../runtime/outbound/fault.ts';
import { outboundUses } from '../../runtime/outbound/uses.ts';
import { AnalysisFault, faultOfReason } from './problems.ts';
import type { Run } from './run.ts';

/** @throws AnalysisFault source_refused, source_unreachable, source_too_large */
export async function fetchSource(run: Run, path: string): Promise<void> {
  const { videoId } = run.row;
  if (videoId === null) await fetchFromWeb(run, path);
  else await readOwn(run, videoId, path);
}

async function fetchFromWeb(run: Run, path: string): Promise<void> {
  const { signal } = run;
  const use = outboundUses.analysedSource;
  const answer = await run.deps.outbound.fetch(run.row.sourceUrl, use, { signal });
  if (!answer.ok) throw new AnalysisFault(faultOfReason[answer.reason], answer.message);
  try {
    if (answer.status !== 200) {
      const message = `The server of the source answered ${answer.status}.`;
      throw new AnalysisFault('source_unreachable', message);
    }
    await write(answer.body, path, signal);
  } catch (error) {
    if (!(error instanceof OutboundFault)) throw error;
    throw new AnalysisFault(faultOfReason[error.reason], error.message);
  } finally {
    answer.close();
  }
}

/** A video that is gone meanwhile is no other than a URL that answers no more. */
async function readOwn(run: Run, videoId: string, path: string): Promise<void> {
  const { sql, blobs } = run.deps;
  const gone = new AnalysisFault(
    'source_unreachable',
    'The generated video is not there any more.',
  );
  const video = await findGeneratedVideo(sql, run.row.accountId, videoId);
  if (video === null) throw gone;
  try {
    await write(blobs.read(video.blobId, 0, video.sizeBytes), path, run.signal);
  } catch (error) {
    if (!(error instanceof BlobFault) || error.reason === 'unreachable') throw error;
    throw gone;
  }
}

function write(body: AsyncIterable<Buffer>, path: string, signal: AbortSignal): Promise<void> {
  const out = createWriteStream(path, { flags: 'w', mode: 0o600 });
  return pipeline(Readable.from(body, { objectMode: false }), out, { signal });
}
