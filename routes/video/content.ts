// A generated video as a reply: whole, a part of it, or what the client has already.
import type { GeneratedVideoRow } from '../../db/video-jobs/rows.ts';
import type { Reply } from '../../runtime/http/route.ts';
import type { Services } from '../services.ts';

const endings: Readonly<Record<string, string>> = { 'video/quicktime': 'mov' };

export function videoReply(
  { blobs }: Pick<Services['video'], 'blobs'>,
  video: Pick<GeneratedVideoRow, 'id' | 'blobId' | 'mimeType' | 'sizeBytes' | 'sha256'>,
  createdMs: number,
): Reply {
  return {
    status: 200,
    file: {
      bytes: video.sizeBytes,
      etag: video.sha256,
      lastModifiedMs: createdMs,
      mediaType: video.mimeType,
      filename: `${video.id}.${endings[video.mimeType] ?? 'mp4'}`,
      read: (from, to) => blobs.read(video.blobId, from, to),
    },
  };
}
