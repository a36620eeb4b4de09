// Pictures of a video at some seconds, drawn from the video itself by a player that nobody sees.

const WIDTH = 160;
const DEADLINE_MS = 10_000;

/** Draws into each canvas its second's picture, until it is done, aborted, or cannot go on. */
export async function drawStills(
  url: string,
  places: readonly { seconds: number; canvas: HTMLCanvasElement }[],
  signal: AbortSignal,
): Promise<void> {
  const video = document.createElement('video');
  video.muted = true;
  video.preload = 'auto';
  video.src = url;
  try {
    await happens(video, 'loadeddata', signal);
    for (const { seconds, canvas } of places) {
      const { duration } = video;
      // The very end of a video has no picture.
      video.currentTime = Math.min(seconds, Math.max(0, duration - 0.05));
      await happens(video, 'seeked', signal);
      canvas.width = WIDTH;
      canvas.height = Math.round((WIDTH * video.videoHeight) / Math.max(1, video.videoWidth));
      canvas.getContext('2d')?.drawImage(video, 0, 0, canvas.width, canvas.height);
    }
  } catch {
    // Times without pictures are worth having as well.
  } finally {
    video.removeAttribute('src');
    video.load();
  }
}

async function happens(video: HTMLVideoElement, name: string, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const over = AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]);
    if (over.aborted) reject(over.reason);
    over.addEventListener('abort', () => reject(over.reason), { once: true });
    video.addEventListener(name, () => resolve(), { once: true });
    video.addEventListener('error', () => reject(new Error('no video')), { once: true });
  });
}
