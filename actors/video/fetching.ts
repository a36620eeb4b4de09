// Fetches a finished video through the guard, looks whether it is what was asked for, and stores
// it. A link that has expired is asked for anew; what is wrong with the file itself is final.
import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { noteStored } from '../../db/video-jobs/moves.ts';
import { BlobFault, type StoredBlob } from '../../media/blobs/contract.ts';
import { isFull } from '../../media/blobs/file-faults.ts';
import type { VideoFile, VideoTarget } from '../../media/providers/video/contract.ts';
import type { InspectedVideo, VideoFacts } from '../../media/video/contract.ts';
import type { OutboundReason } from '../../runtime/outbound/contract.ts';
import { OutboundFault } from '../../runtime/outbound/fault.ts';
import { outboundUses } from '../../runtime/outbound/uses.ts';
import { ask, targetOf } from './polling.ts';
import { fail, gone, next, type Run, type Step } from './run.ts';
import { withScratch } from './scratch.ts';
import type { StoredFile } from './stored-file.ts';

/** Until the file is in the store. */
export async function fetchVideo(run: Run): Promise<Step> {
  let failures = 0;
  for (;;) {
    if (run.signal.aborted) return gone;
    const { atMs, code } = run.deadline();
    if (run.nowMs() >= atMs) return fail(code);
    const target = targetOf(run);
    const file = target === null ? null : (run.file ?? (await askFile(run, target)));
    run.file = null;
    if (target === null || file === null) {
      if (run.signal.aborted) return gone;
      await run.pause(run.deps.limits.lookUpEveryMs);
      continue;
    }
    if ('kind' in file) return file;
    const step = await inFolder(run, (folder) => takeOver(run, target, file, folder));
    if (typeof step === 'object') return step;
    if (step === 'broken') failures += 1;
    if (failures >= run.deps.limits.linksMax) return fail('download_failed');
    await run.pause(step === 'broken' ? run.deps.limits.slotMs : run.deps.limits.lookUpEveryMs);
  }
}

/** A folder of its own for the file, which is there while `use` runs. */
async function inFolder<T>(run: Run, use: (folder: string) => Promise<T>): Promise<T | Step> {
  try {
    return await withScratch(run.deps.scratchFolder, `${run.id}-${run.epoch}`, use);
  } catch (error) {
    if (isFull(error)) return fail('storage_failed');
    throw error;
  }
}

/** The provider says where the file is; null: not this time. */
async function askFile(run: Run, target: VideoTarget): Promise<VideoFile | Step | null> {
  const polled = await ask(run, target);
  if (polled.kind === 'done') return polled.file;
  return polled.kind === 'failed' ? fail(polled.code) : null;
}

/**
 * `broken`: the link did not hold, and another may. `unseen`: nobody could look at the file, or its
 * host was away.
 */
async function takeOver(
  run: Run,
  target: VideoTarget,
  file: VideoFile,
  folder: string,
): Promise<Step | 'broken' | 'unseen'> {
  const path = join(folder, 'video');
  const downloaded = await download(run, target, file, path);
  if (run.signal.aborted) return gone;
  if (downloaded === 'full') return fail('storage_failed');
  if (downloaded !== 'whole') return downloaded === 'away' ? 'unseen' : 'broken';
  const inspected = await inspect(run, path, join(folder, 'silent'));
  if (run.signal.aborted) return gone;
  if (inspected === null) return 'unseen';
  if (!inspected.ok) {
    run.deps.log.warn({ job: run.id, fault: inspected.fault }, 'a finished video is not valid');
    return fail(inspected.fault === 'unwritten' ? 'storage_failed' : 'invalid_media');
  }
  return store(run, inspected.path, inspected.facts);
}

async function download(
  run: Run,
  target: VideoTarget,
  file: VideoFile,
  path: string,
): Promise<'whole' | 'broken' | 'away' | 'full'> {
  const { outbound } = run.deps;
  const answer = await outbound.fetch(file.url, outboundUses.generatedVideo, {
    signal: run.signal,
    credentials: { origin: new URL(target.baseUrl).origin, headers: file.credentials },
    provider: { baseUrl: target.baseUrl, mediaHosts: target.mediaHosts },
  });
  if (!answer.ok) return isAway(answer.reason) ? 'away' : 'broken';
  if (answer.status !== 200) {
    answer.close();
    return answer.status === 429 || answer.status >= 500 ? 'away' : 'broken';
  }
  try {
    const out = createWriteStream(path, { flags: 'wx', mode: 0o600 });
    await pipeline(Readable.from(answer.body, { objectMode: false }), out);
    return 'whole';
  } catch (error) {
    if (error instanceof OutboundFault) return 'broken';
    if (isFull(error)) return 'full';
    if (run.signal.aborted) return 'broken';
    throw error;
  } finally {
    answer.close();
  }
}

/** What says nothing of the link. */
function isAway(reason: OutboundReason): boolean {
  return reason === 'source_unreachable' || reason === 'timeout';
}

function inspect(run: Run, path: string, silentPath: string): Promise<InspectedVideo | null> {
  const { durationSeconds: seconds, resolution, aspectRatio, generateAudio } = run.settings();
  const ratio = aspectRatio === 'adaptive' ? null : aspectRatio;
  const expectation = { seconds, resolution, ratio, hasSound: generateAudio };
  return run.deps.inspect({ path, silentPath, expectation }, run.job.accountId);
}

/** A store that does not answer is asked for as long as files may wait. */
async function store(run: Run, path: string, facts: VideoFacts): Promise<Step> {
  const { deps, job } = run;
  const { limits, log } = deps;
  const untilMs = (job.finalizingMs ?? run.nowMs()) + limits.storingForMs;
  if (facts.isRatioOff) {
    log.warn({ job: run.id, width: facts.width, height: facts.height }, 'a ratio is off');
  }
  for (;;) {
    const stored = await put(run, path);
    if (typeof stored === 'object') return stored === null ? gone : keep(run, stored, facts);
    if (stored === 'full' || run.nowMs() >= untilMs) return fail('storage_failed');
    log.warn({ job: run.id }, 'the blob store does not answer');
    await run.pauseUntil(limits.lookUpEveryMs, untilMs);
    if (run.signal.aborted) return gone;
  }
}

/** Null: the run was told to stop. */
async function put(run: Run, path: string): Promise<StoredBlob | 'full' | 'unreachable' | null> {
  const { blobs, limits } = run.deps;
  const signal = AbortSignal.any([run.signal, AbortSignal.timeout(limits.storeMs)]);
  try {
    const bounds = { bytesMax: outboundUses.generatedVideo.bytesMax, signal };
    return await blobs.put(createReadStream(path), bounds);
  } catch (error) {
    if (run.signal.aborted) return null;
    if (signal.aborted) return 'unreachable';
    if (!(error instanceof BlobFault)) throw error;
    return error.reason === 'full' ? 'full' : 'unreachable';
  }
}

async function keep(run: Run, { id, bytes, sha256 }: StoredBlob, facts: VideoFacts): Promise<Step> {
  const { deps, job } = run;
  const file: StoredFile = {
    blobId: id,
    sizeBytes: bytes,
    sha256,
    mimeType: facts.mime,
    hasSound: facts.hasAudio,
    ratio: job.aspectRatio === 'adaptive' ? facts.nearestRatio : job.aspectRatio,
    durationMs: facts.durationMs,
    width: facts.width,
    height: facts.height,
  };
  const fileJson = JSON.stringify(file);
  if (!(await noteStored(deps.sql, run, fileJson))) {
    await deps.blobs.remove(id).catch(() => false);
    return gone;
  }
  Object.assign(job, { file: fileJson, storedMs: run.nowMs() });
  return next;
}
