// Drives one job at the simulator by a family and the real call. It is submitted once, and polled
// until it no longer runs. Its file is fetched as a downloader would.
import { request } from 'undici';
import type { VideoSettings } from '../../../../media/model/video.ts';
import type { VideoClient } from '../../../../media/providers/video/call.ts';
import type {
  Polled,
  Submitted,
  VideoFamily,
  VideoFile,
  VideoTarget,
} from '../../../../media/providers/video/contract.ts';

const deadlines = { connectMs: 30_000, headersMs: 30_000, totalMs: 30_000 };
const signal = new AbortController().signal;
const pollEveryMs = 15;

export interface Driven {
  client: VideoClient;
  family: VideoFamily;
  target: VideoTarget;
}

/** `failed` as the call says it, or the meaning of the reply. */
export async function submitted(
  { client, family, target }: Driven,
  settings: VideoSettings,
  jobId: string,
): Promise<Submitted | { kind: 'unsent' | 'sent' }> {
  const call = family.encodeSubmit(settings, target, jobId);
  const result = await client.run(call, { deadlines, signal });
  return 'failed' in result ? { kind: result.failed } : family.readSubmit(result.reply);
}

export async function polled(
  { client, family, target }: Driven,
  upstreamId: string,
): Promise<Polled | { kind: 'unsent' | 'sent' }> {
  const call = family.encodePoll(upstreamId, target);
  const result = await client.run(call, { deadlines, signal });
  return 'failed' in result
    ? { kind: result.failed }
    : family.readPoll(result.reply, upstreamId, target);
}

/** The first that is not `running`, or `running` when it has run for so long. */
export async function polledLong(
  driven: Driven,
  upstreamId: string,
  forMs: number,
): ReturnType<typeof polled> {
  const untilMs = performance.now() + forMs;
  for (;;) {
    const state = await polled(driven, upstreamId);
    if (state.kind !== 'running' || performance.now() > untilMs) return state;
    await new Promise((resolve) => setTimeout(resolve, pollEveryMs));
  }
}

/** The newest page, read for these settings. */
export async function listed({ client, family, target }: Driven, settings: VideoSettings) {
  if (family.list === null) return null;
  const result = await client.run(family.list.encode(target), { deadlines, signal });
  return 'failed' in result ? null : family.list.read(result.reply, settings, target);
}

export interface Fetched {
  status: number;
  headers: Record<string, unknown>;
  /** Null: it was cut, or it is longer than any of ours. */
  bytes: Buffer | null;
}

export async function fetched({ url, credentials }: VideoFile, bytesMax = 2e6): Promise<Fetched> {
  const { statusCode: status, headers, body } = await request(url, { headers: credentials });
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const part of body) {
      parts.push(part as Buffer);
      length += (part as Buffer).length;
      if (length > bytesMax) return { status, headers, bytes: null };
    }
  } catch {
    return { status, headers, bytes: null };
  }
  return { status, headers, bytes: Buffer.concat(parts) };
}
