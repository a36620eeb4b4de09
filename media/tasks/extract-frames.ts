// Piscina task: what a video of a stranger is, its hash, and frames of it for a model that sees.
import '../../runtime/work/background.ts';
import type { ExtractedFrames, ExtractFramesInput } from '../video/contract.ts';
import { extractFrames } from '../video/frames.ts';
import type { VideoTools } from '../video/video-tools.ts';

// biome-ignore lint/style/noDefaultExport: Piscina runs a file's default export
export default function extractFramesTask(
  input: ExtractFramesInput & { tools: VideoTools },
): Promise<ExtractedFrames> {
  return extractFrames(input, input.tools);
}
