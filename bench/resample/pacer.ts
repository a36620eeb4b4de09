// Sessions that speak at real time without a network: a frame each 32 ms from every one, spread
// evenly. What the pacing itself costs is measured as well, with nobody behind it, and taken off.
const frameMs = 32;
const tickMs = 1;

export interface Paced {
  frames: number;
  cpuMicros: number;
}

/** Calls `push` for each frame of each session when it is due, for `durationMs`. */
export async function pace(
  sessions: number,
  durationMs: number,
  push: (session: number) => void,
): Promise<Paced> {
  const before = process.cpuUsage();
  const startedMs = performance.now();
  let frames = 0;
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsedMs = performance.now() - startedMs;
      const due = Math.floor((Math.min(elapsedMs, durationMs) * sessions) / frameMs);
      for (; frames < due; frames++) push(frames % sessions);
      if (elapsedMs < durationMs) return;
      clearInterval(timer);
      resolve();
    }, tickMs);
  });
  const { user, system } = process.cpuUsage(before);
  return { frames, cpuMicros: user + system };
}
