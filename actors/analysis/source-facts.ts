// What is known of a source once its frames are there. It is stored before the model is asked:
// whoever goes on judges the answer by the frames that the model was shown.

/** As it is told, and stored. */
export interface SourceFacts {
  kind: 'url' | 'generated_video';
  duration_seconds: number;
  width: number;
  height: number;
  has_audio: boolean;
  sha256: string;
  /** Their seconds, in order. */
  frames: number[];
}

/** The part that was asked for, as far as the video goes. */
export function partOf(
  { startSeconds, endSeconds }: { startSeconds: number | null; endSeconds: number | null },
  { duration_seconds: duration }: Pick<SourceFacts, 'duration_seconds'>,
): { startSeconds: number; endSeconds: number } {
  return {
    startSeconds: startSeconds ?? 0,
    endSeconds: Math.min(endSeconds ?? duration, duration),
  };
}
