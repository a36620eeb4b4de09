// GET /api/me/generated-videos/{video_id}: the file, for media elements, which send no header.
import * as v from 'valibot';
import { withDeadline } from '../../db/driver/sql.ts';
import { findGeneratedVideo } from '../../db/generated-videos.ts';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
import type { Services } from '../services.ts';
import { videoReply } from '../video/content.ts';

export const videoParams = v.object({ video_id: v.pipe(v.string(), v.maxLength(100)) });

export const getVideo = defineRoute({
  method: 'GET',
  path: '/api/me/generated-videos/{video_id}',
  operationId: 'getGeneratedVideo',
  summary: 'Watch or download a generated video',
  description:
    'By session alone. Ranges and conditions as RFC 9110 has them: one range is 206, several ' +
    'ones are the whole file. A damaged file is 503, never other bytes.',
  tag: 'Video',
  documents: ['account'],
  access: { kind: 'user' },
  cors: 'web',
  params: videoParams,
  replies: {
    200: {
      description: 'The file.',
      mediaType: 'video/mp4',
      moreMediaTypes: ['video/quicktime'],
      isFile: true,
    },
  },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const video = await requireVideo(services, caller.accountId, params.video_id);
    return videoReply(services.video, video, video.createdMs);
  },
});

/** @throws Problem not_found */
export async function requireVideo(
  { sql }: Pick<Services, 'sql'>,
  accountId: string,
  id: string,
): Promise<NonNullable<Awaited<ReturnType<typeof findGeneratedVideo>>>> {
  const video = await withDeadline(findGeneratedVideo(sql, accountId, id));
  if (video === null) throw new Problem('not_found', { param: 'video_id' });
  return video;
}
