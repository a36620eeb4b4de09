// What the process that runs programs on files of video is asked, and what it answers: plain data.

export type ProgramsJob =
  | { kind: 'prepare'; folder: string }
  /** The look at a generated video of eight seconds, as the product takes it. */
  | { kind: 'inspect'; path: string; times: number }
  /** Frames by the product's function, or by ffmpeg: in one pass, or sought one by one. */
  | { kind: 'frames'; path: string; by: FramesBy; times: number };

export type FramesBy = 'gateway' | 'pass' | 'seeks';

export interface ProgramsCost {
  /** What each time costs: the programs alone, and with this process. */
  programMicros: number;
  allMicros: number;
  frames: number;
}

export const FRAMES = 12;
export const FRAMES_SECONDS = 60;
