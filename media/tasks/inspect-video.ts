// Piscina task: whether a private file is the video that a provider was asked for, and its hash.
// Sound that was not wanted is taken away first.
import '../../runtime/work/background.ts';
import type { InspectedVideo, InspectVideoInput } from '../video/contract.ts';
import { inspectVideo } from '../video/inspect.ts';
import type { VideoTools } from '../video/video-tools.ts';

// biome-ignore lint/style/noDefaultExport: Piscina runs a file's default export
export default function inspectVideoTask(
  input: InspectVideoInput & { tools: VideoTools },
): Promise<InspectedVideo> {
  return inspectVideo(input, input.tools);
}
