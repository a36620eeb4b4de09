// The programs as video files need them: some work is over at once, some takes its time.
import type { MediaTools } from '../tools/tools.ts';

export interface VideoTools {
  /** For what reads a file's index and key frames. */
  quick: MediaTools;
  /** For what decodes. */
  patient: MediaTools;
  /** How long a process may take on a machine that is busy with other things. */
  timeoutMs: number;
}
