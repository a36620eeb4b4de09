// Counts the input tokens of a request at its provider, where the family has an endpoint for that.
// It is free, so it is never worth a long wait.
import { request as send } from 'undici';
import { awakeSignal } from '../../../runtime/awake.ts';
import type { GenerationRequest } from '../../model/request.ts';
import { inPieces } from '../../transport/long-call.ts';
import type { ProviderFamily, UpstreamTarget } from './contract.ts';

const deadlineMs = 2_000;
/** A count is a few bytes. */
const bodyBytesMax = 64 * 1024;

/** Null: the family cannot count, or its provider did not within 2 s. Never throws. */
export async function countAtProvider(
  family: ProviderFamily,
  target: UpstreamTarget,
  request: GenerationRequest,
): Promise<number | null> {
  const { counting } = family;
  if (counting === null) return null;
  const fitted = family.fit(request, target, {});
  if ('refused' in fitted) return null;
  let end = () => {};
  try {
    const { url, method, headers, body } = await inPieces(counting.encode(fitted.request, target));
    const deadline = awakeSignal(deadlineMs);
    end = deadline.end;
    const { signal } = deadline;
    const reply = await send(url, { method, headers, body: Buffer.concat(body), signal });
    if (reply.statusCode < 200 || reply.statusCode > 299) {
      await reply.body.dump();
      return null;
    }
    return counting.read(await readText(reply.body));
  } catch {
    return null;
  } finally {
    end();
  }
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body) {
    length += part.length;
    if (length > bodyBytesMax) throw new Error('the body is too long');
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}
