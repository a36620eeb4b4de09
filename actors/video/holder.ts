// A video job as a holder of funds: its row begins and ends with its hold, which belongs to the row
// and to no process. An end from an epoch that is over is refused by the ledger.
import type { NewAuditEvent } from '../../db/audit-events.ts';
import type { VideoJobClaimRow, VideoJobFinishRow } from '../../db/video-jobs/rows.ts';
import { videoJobRows } from '../../db/video-jobs/rows.ts';
import type { Holder } from '../wallet/holder.ts';
import type { Claim, Finish } from '../wallet/protocol.ts';

/** Makes the row of a job and takes its idempotency key. */
export type VideoJobClaim = Claim & Omit<VideoJobClaimRow, 'holdId' | 'instanceId'>;

/** Ends a job. */
export type VideoJobFinish = Finish & {
  kind: 'video_job';
  /** Written with it; null: none. */
  event: NewAuditEvent | null;
} & Pick<VideoJobFinishRow, 'epoch' | 'status' | 'errorCode' | 'note' | 'video'>;

export const videoJobHolder: Holder = {
  rows: videoJobRows,

  claim(changes, given, { holdId, instanceId }) {
    const row: VideoJobClaimRow = { ...(given as VideoJobClaim), holdId, instanceId };
    changes.set('job_claims', row.id, row);
  },

  finish(changes, id, given, { chargeMicros }) {
    if (changes.has('job_finishes', id)) return;
    const finish = given as VideoJobFinish | null;
    const row: VideoJobFinishRow = {
      id,
      epoch: finish?.epoch ?? null,
      status: finish?.status ?? 'failed',
      errorCode: finish === null ? 'internal' : finish.errorCode,
      note: finish?.note ?? null,
      chargeMicros,
      video: finish?.video ?? null,
    };
    changes.set('job_finishes', id, row);
    const event = finish?.event ?? null;
    if (event !== null) changes.set('audit_rows', event.id, event);
  },

  /** Its time is over: it fails with its hold. */
  endAlone({ holdId, ownerId }) {
    const finish: VideoJobFinish | null =
      ownerId === null
        ? null
        : {
            kind: 'video_job',
            id: ownerId,
            epoch: null,
            status: 'failed',
            errorCode: 'internal',
            note: null,
            video: null,
            event: null,
          };
    return { message: 'release', request: { holdId, reason: 'failed', finish } };
  },
};
