// Files of video that the benches use, made once by ffmpeg, and a server that has one of them. The
// simulator redirects to it, since its own clips are smaller.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { keptClip, source } from '../sim/video/clip.ts';

const PADDING_HEADER_BYTES = 8;

async function made(name: string, options: string[]): Promise<Buffer> {
  const clip = await keptClip(name, () => options);
  if (clip === null) throw new Error(`ffmpeg made no ${name}`);
  return clip;
}

function picture(seconds: number, kilobits: number, group: number): string[] {
  return [
    ...source(`testsrc2=s=1280x720:r=25:d=${seconds}`),
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p', '-g', String(group)],
    ...['-b:v', `${kilobits}k`, '-maxrate', `${kilobits}k`, '-bufsize', `${kilobits}k`],
    ...['-movflags', '+faststart'],
  ];
}

/** Eight seconds of 720p without sound, about 300 KB. */
export function shortClip(): Promise<Buffer> {
  return made('bench-short', picture(8, 290, 50));
}

/** Sixty seconds of 720p with a key frame each four seconds. */
export function longClip(): Promise<Buffer> {
  return made('bench-long', picture(60, 1_000, 100));
}

/** The short one, filled up with a box that nobody reads. */
export async function paddedClip(bytes: number): Promise<Buffer> {
  const clip = await shortClip();
  const padding = Buffer.alloc(bytes - clip.length, 0x5a);
  padding.writeUInt32BE(padding.length, 0);
  padding.write('free', PADDING_HEADER_BYTES / 2, 'latin1');
  return Buffer.concat([clip, padding]);
}

export interface ClipServer {
  url: string;
  /** What TOLLGATE_FETCH_PRIVATE has to name. */
  exception: string;
  stop(): void;
}

export async function serveClip(clip: Buffer): Promise<ClipServer> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': clip.length });
    response.end(clip);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/clip.mp4`,
    exception: `127.0.0.1:${port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
