// DELETE /api/me/generated-videos/{video_id}: removes the file. The job stays, without its video.
import * as v from 'valibot';
import { withDeadline } from '../../db/driver/sql.ts';
import { noteVideoRemoved } from '../../db/generated-videos.ts';
import { erasing, isHeld } from '../../db/organizations/hold.ts';
import { BlobFault } from '../../media/blobs/contract.ts';
import { defineRoute } from '../define.ts';
import { blockedBy } from '../policy.ts';
import { videoId } from '../video/schema.ts';
import { requireVideo, videoParams } from './get-video.ts';

export const deleteVideo = defineRoute({
  method: 'DELETE',
  path: '/api/me/generated-videos/{video_id}',
  operationId: 'deleteGeneratedVideo',
  summary: 'Delete a generated video',
  description:
    'For good. What was charged for it stays charged. On a legal hold it is 403 `policy_blocked`.',
  tag: 'Video',
  documents: ['account'],
  access: { kind: 'user', isForSuspended: true },
  cors: 'web',
  params: videoParams,
  replies: {
    200: {
      description: 'It is gone.',
      schema: v.strictObject({ ok: v.literal(true), id: videoId, deleted: v.literal(true) }),
    },
  },
  problems: ['policy_blocked', 'not_found', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const { id, blobId } = await requireVideo(services, caller.accountId, params.video_id);
    const removing = erasing(services.sql, async (transaction) => {
      if (await isHeld(transaction, caller.accountId)) throw blockedBy('legal_hold');
      await noteVideoRemoved(transaction, id);
    });
    // First the row: nobody is given it any more, and what no row names is swept.
    await withDeadline(removing);
    try {
      await services.video.blobs.remove(blobId);
    } catch (error) {
      if (!(error instanceof BlobFault)) throw error;
      services.log.warn({ video: id, reason: error.reason }, 'a deleted file waits for the sweep');
    }
    return { status: 200, json: { ok: true, id, deleted: true } };
  },
});
