// The end of a job and of its hold, in one write of the ledger: settled with the video's row, or
// released. A ledger that is away is asked again; one that says that the run was replaced is final.
import type { NewAuditEvent } from '../../db/audit-events.ts';
import type { GeneratedVideoRow } from '../../db/video-jobs/rows.ts';
import { newAuditId, siblingId } from '../../runtime/ids.ts';
import type { ReleaseRequest, SettleRequest } from '../wallet/protocol.ts';
import type { VideoJobFinish } from './holder.ts';
import { videoLimits } from './limits.ts';
import type { JobError } from './problems.ts';
import type { Run } from './run.ts';
import type { StoredFile } from './stored-file.ts';

export type Closed = 'ended' | 'gone' | 'unavailable';

/** Charges the candidate's price. The video is there from then on. */
export async function settle(run: Run): Promise<Closed> {
  const { job, candidate } = run;
  const file = JSON.parse(job.file ?? 'null') as StoredFile | null;
  if (file === null || candidate === null) return 'gone';
  const isSilent = job.generateAudio && !file.hasSound;
  const request: SettleRequest = {
    holdId: job.holdId,
    chargeMicros: BigInt(isSilent ? candidate.silentCharge : candidate.charge),
    providerCostMicros: BigInt(isSilent ? candidate.silentProviderCost : candidate.providerCost),
    finish: finishOf(run, { status: 'succeeded', video: videoOf(run, file) }),
    spender: { accountId: job.accountId, apiKeyId: job.apiKeyId },
  };
  const closed = await repeatedly(run, async () => {
    const { wallet, ledger } = run.deps;
    const answer = await wallet(job.walletId).ask('settle', request, ledger.askTimeoutMs);
    if (!answer.ok || answer.value.status === 'unavailable') return 'unavailable';
    return answer.value.status === 'settled' ? 'ended' : 'gone';
  });
  if (closed !== 'ended') return closed;
  run.deps.metrics.ended('succeeded');
  run.deps.metrics.lasted((run.nowMs() - job.createdMs) / 1_000);
  return closed;
}

/** Gives everything back. */
export async function release(
  run: Run,
  end: { code: JobError; note?: string; event?: NewAuditEvent } | 'cancelled',
): Promise<Closed> {
  const { job } = run;
  const finish =
    end === 'cancelled'
      ? finishOf(run, { status: 'cancelled' })
      : finishOf(run, {
          status: 'failed',
          errorCode: end.code,
          note: end.note ?? null,
          event: end.event ?? eventOf(run, end.code),
        });
  const reason = end === 'cancelled' ? 'cancelled' : 'failed';
  const request: ReleaseRequest = { holdId: job.holdId, reason, finish };
  const closed = await repeatedly(run, async () => {
    const { wallet, ledger } = run.deps;
    const answer = await wallet(job.walletId).ask('release', request, ledger.askTimeoutMs);
    if (!answer.ok || answer.value.status === 'unavailable') return 'unavailable';
    return answer.value.status === 'superseded' ? 'gone' : 'ended';
  });
  if (closed === 'ended') run.deps.metrics.ended(end === 'cancelled' ? end : end.code);
  return closed;
}

function finishOf(
  run: Run,
  end: Pick<VideoJobFinish, 'status'> & Partial<VideoJobFinish>,
): VideoJobFinish {
  return {
    kind: 'video_job',
    id: run.id,
    epoch: run.epoch,
    errorCode: null,
    note: null,
    video: null,
    event: null,
    ...end,
  };
}

function videoOf({ job }: Run, file: StoredFile): GeneratedVideoRow {
  return {
    id: siblingId(job.id, 'vid'),
    jobId: job.id,
    accountId: job.accountId,
    blobId: file.blobId,
    title: titleOf(job.prompt),
    mimeType: file.mimeType,
    durationSeconds: job.durationSeconds,
    aspectRatio: file.ratio,
    resolution: job.resolution,
    sizeBytes: file.sizeBytes,
    sha256: file.sha256,
  };
}

/** The beginning of a prompt, on one line. */
export function titleOf(prompt: string): string {
  const line = prompt.replace(/\s+/gu, ' ').trim();
  return [...line].slice(0, videoLimits.titleCharactersMax).join('');
}

/** What may cost the operator something is told: nobody else pays for it. */
function eventOf(run: Run, code: JobError): NewAuditEvent | null {
  if (code !== 'submission_unknown') return null;
  const { job } = run;
  return {
    id: newAuditId(0),
    accountId: job.accountId,
    actor: 'system',
    action: 'video_job.submission_unknown',
    subject: `video_job:${job.id}`,
    details: { provider: job.provider, attempt_at: new Date(job.attemptMs ?? 0).toISOString() },
  };
}

/** Until the ledger says what became of it, or the run is told to stop. */
async function repeatedly(run: Run, once: () => Promise<Closed>): Promise<Closed> {
  const { ledgerRetryMsMax } = run.deps.limits;
  for (let tries = 0; ; tries += 1) {
    const closed = await once();
    if (closed !== 'unavailable' || run.signal.aborted) return closed;
    const delayMs = Math.min(ledgerRetryMsMax, 50 * 2 ** Math.min(tries, 10));
    await run.pauseFor(delayMs * (0.5 + Math.random() / 2));
  }
}
