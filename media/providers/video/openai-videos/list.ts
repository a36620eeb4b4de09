// The newest page of a server's jobs: which one is a submission whose reply was lost. Times there
// are whole seconds, so a job may seem up to one second older than its submission.
import type { VideoSettings } from '../../../model/video.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import type { ListedVideo, VideoCall, VideoReply, VideoTarget } from '../contract.ts';
import { baseOf, headersOf } from '../polling.ts';
import { upstreamIdOf } from '../submission.ts';
import { parsed, textOf } from '../vendor-error.ts';
import { credentialOf } from './request.ts';
import { sizeOf } from './size.ts';

/** So many fit into 256 KiB, with prompts of 12 KB. */
const pageLength = 20;

export function encodeList(target: VideoTarget): VideoCall {
  return {
    method: 'GET',
    url: `${baseOf(target)}/videos?limit=${pageLength}&order=desc`,
    headers: headersOf(credentialOf(target)),
    body: '',
  };
}

export function readList(
  reply: VideoReply,
  settings: VideoSettings,
  target: VideoTarget,
): readonly ListedVideo[] | null {
  if (reply.status !== 200) return null;
  const page = parsed(reply);
  if (!isMembers(page) || !Array.isArray(page.data)) return null;
  return page.data.filter(isMembers).flatMap((entry): ListedVideo[] => {
    const upstreamId = upstreamIdOf(entry.id);
    const { created_at: createdAt } = entry;
    if (upstreamId === null || typeof createdAt !== 'number') return [];
    const matches = isLike(entry, settings, target);
    return [{ upstreamId, createdAtMs: Math.round(createdAt * 1_000), matches }];
  });
}

/** A server that chose the size itself may have chosen any. */
function isLike(entry: Members, settings: VideoSettings, { upstreamModel }: VideoTarget): boolean {
  const size = sizeOf(settings);
  return (
    entry.model === upstreamModel &&
    entry.prompt === settings.prompt &&
    textOf(entry.seconds) === String(settings.durationSeconds) &&
    (size === null || entry.size === size)
  );
}
