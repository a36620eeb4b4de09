// From the source to frames: fetched into a folder of its own, looked at, and noted in the row
// before any model is asked. Every step is safe to repeat, and costs nothing.
import { join } from 'node:path';
import { isAccountDisabled } from '../../db/accounts.ts';
import { noteSource } from '../../db/video-analyses/moves.ts';
import type { ExtractedFrames } from '../../media/video/contract.ts';
import { withScratch } from '../video/scratch.ts';
import { fetchSource } from './fetching.ts';
import { AnalysisFault, videoFault } from './problems.ts';
import type { Prepared, Run } from './run.ts';
import type { SourceFacts } from './source-facts.ts';

/**
 * Frames, and what is known of their source.
 * @throws AnalysisFault for what the source is, or account_disabled
 */
export async function prepare(run: Run): Promise<Prepared> {
  await requireActive(run);
  run.prepared ??= await withScratch(
    run.deps.scratchFolder,
    `${run.id}-${run.epoch}`,
    async (folder) => {
      const prepared = await look(run, join(folder, 'source'));
      // Fetching takes its time.
      await requireActive(run);
      return prepared;
    },
  );
  return run.prepared;
}

/** @throws AnalysisFault account_disabled */
async function requireActive({ deps, row }: Run): Promise<void> {
  if (await isAccountDisabled(deps.sql, row.accountId)) throw new AnalysisFault('account_disabled');
}

async function look(run: Run, path: string): Promise<Prepared> {
  const { deps, row } = run;
  run.begin('source');
  await fetchSource(run, path);
  run.begin('frames');
  const extracted = await extract(run, path);
  if (!extracted.ok) throw videoFault(extracted.fault);
  const { durationMs, width, height, hasAudio, sha256 } = extracted.facts;
  const facts: SourceFacts = {
    kind: row.videoId === null ? 'url' : 'generated_video',
    duration_seconds: durationMs / 1_000,
    width,
    height,
    has_audio: hasAudio,
    sha256,
    frames: extracted.frames.map(({ seconds }) => seconds),
  };
  const frames = extracted.frames.map(({ seconds, jpeg }) => ({ seconds, url: dataUrl(jpeg) }));
  run.begin('answer');
  const isOurs = await noteSource(deps.sql, run, JSON.stringify(facts), run.progress);
  if (!isOurs) run.lost();
  run.signal.throwIfAborted();
  run.facts = facts;
  return { facts, frames };
}

async function extract(run: Run, path: string): Promise<ExtractedFrames> {
  const { row, deps } = run;
  const { startSeconds, endSeconds, framesMax, accountId } = row;
  const input = { path, startSeconds, endSeconds, framesMax };
  const extracted = await deps.extract(input, accountId, Math.ceil(run.leftMs));
  run.signal.throwIfAborted();
  if (extracted === null) throw new Error('the source could not be judged');
  return extracted;
}

function dataUrl(jpeg: Uint8Array): string {
  const { buffer, byteOffset, byteLength } = jpeg;
  return `data:image/jpeg;base64,${Buffer.from(buffer, byteOffset, byteLength).toString('base64')}`;
}
