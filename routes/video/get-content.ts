// GET /v1/video/generations/{job_id}/content: the file, for callers with a key and no session.
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
import { videoReply } from './content.ts';
import { jobParams } from './get-job.ts';
import { requireJob } from './require-job.ts';

export const getContent = defineRoute({
  method: 'GET',
  path: '/v1/video/generations/{job_id}/content',
  aliases: ['/api/v1/video/generations/{job_id}/content'],
  operationId: 'getVideoGenerationContent',
  summary: 'Download a generated video',
  description:
    'Ranges and conditions as RFC 9110 has them: one range is 206, several ones are the whole ' +
    'file. A video that was deleted or is older than it is kept is 404.',
  tag: 'Video',
  documents: ['account', 'model'],
  access: { kind: 'key-or-user', scope: 'video:generate' },
  cors: 'public',
  params: jobParams,
  replies: {
    200: {
      description: 'The file.',
      mediaType: 'video/mp4',
      moreMediaTypes: ['video/quicktime'],
      isFile: true,
    },
  },
  problems: ['not_found', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const job = await requireJob(services, caller.accountId, params.job_id);
    if (job.status !== 'succeeded') {
      throw new Problem('invalid_state', { message: `The job is ${job.status}.` });
    }
    if (job.video === null) throw new Problem('not_found', { param: 'job_id' });
    return videoReply(services.video, job.video, job.completedMs ?? job.createdMs);
  },
});
