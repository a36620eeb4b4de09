// Takes the sound out of a generated video without touching its pictures.
import { open } from 'node:fs/promises';
import type { VideoFault } from './faults.ts';
import { runFfmpeg, type VideoSource } from './ffmpeg.ts';
import type { VideoTools } from './video-tools.ts';

/** What the system says where our own disk is the reason. */
const diskComplaint = new RegExp(
  'No space left on device|Read-only file system|Disk quota exceeded|Permission denied|' +
    'Input/output error|No such file or directory',
);

/**
 * Writes the video stream alone to `silentPath`, its index in front; null: it is written. Chapters,
 * tags and whatever else was in the file stay behind.
 */
export async function withoutSound(
  source: VideoSource,
  silentPath: string,
  tools: VideoTools,
): Promise<VideoFault | null> {
  try {
    // The program would give it to everybody on the machine.
    await (await open(silentPath, 'w', 0o600)).close();
  } catch {
    return 'unwritten';
  }
  const { isWell, complaint } = await runFfmpeg({
    tools: tools.patient,
    inputs: [{ source, options: [] }],
    options: [
      ...['-map', '0:V:0', '-c', 'copy', '-map_chapters', '-1', '-movflags', '+faststart'],
      ...['-f', source.container.mime === 'video/quicktime' ? 'mov' : 'mp4'],
    ],
    outputPath: silentPath,
    bytesMax: 0,
    timeoutMs: tools.timeoutMs,
  });
  if (isWell) return null;
  return diskComplaint.test(complaint) ? 'unwritten' : 'undecodable';
}
