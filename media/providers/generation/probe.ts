// Whether a provider route works, asked for free: the description of the model, with the credential
// of a real call. Every family here has that endpoint at the same place, most servers have it.
import { request } from 'undici';
import * as v from 'valibot';
import { awakeSignal } from '../../../runtime/awake.ts';
import { readBounded } from '../../transport/bounded-text.ts';
import type { UpstreamTarget } from './contract.ts';
import { findFamily } from './families.ts';
import { smallestRequest } from './trial.ts';

/** `model`: the provider does not have it; `busy`: it answers, but not now (429). */
export type ProbeFailure = 'unreachable' | 'timeout' | 'credential' | 'model' | 'busy' | 'failed';

export interface ProbeResult {
  /** Null: the route works, as far as can be told without using it. */
  failure: ProbeFailure | null;
  latencyMs: number;
}

const bodyBytesMax = 2 * 1024 * 1024;
/** What the two ways to list models have in common, and how each says that there are more. */
const listSchema = v.object({
  data: v.optional(v.array(v.object({ id: v.string() }))),
  models: v.optional(v.array(v.object({ name: v.string() }))),
  has_more: v.optional(v.boolean()),
  nextPageToken: v.optional(v.string()),
});

/** Asks at most twice, within the time. Never rejects; what the provider says goes nowhere. */
export async function probeTarget(target: UpstreamTarget, timeoutMs: number): Promise<ProbeResult> {
  const startedAt = performance.now();
  const { signal, end } = awakeSignal(timeoutMs);
  let failure: ProbeFailure | null;
  try {
    failure = await failureOf(target, signal);
  } catch {
    failure = signal.aborted ? 'timeout' : 'unreachable';
  } finally {
    end();
  }
  return { failure, latencyMs: Math.round(performance.now() - startedAt) };
}

async function failureOf(
  target: UpstreamTarget,
  signal: AbortSignal,
): Promise<ProbeFailure | null> {
  const models = `${target.baseUrl.replace(/\/+$/, '')}/models`;
  const headers = credentialHeaders(target);
  if (target.upstreamModel !== '') {
    const path = `${models}/${encodeURIComponent(target.upstreamModel)}`;
    const reply = await request(path, { headers, signal });
    await reply.body.dump({ limit: bodyBytesMax });
    const isTold = reply.statusCode < 400 || [401, 403, 429].includes(reply.statusCode);
    if (isTold || reply.statusCode >= 500) return failureOfStatus(reply.statusCode);
  }
  // No such model, or no such endpoint: the list tells, where there is one.
  const list = await request(models, { headers, signal });
  if (list.statusCode !== 200) {
    const text = (await readBounded(list.body, bodyBytesMax)) ?? '';
    // A refused credential has another status with some: the family knows.
    const failure = findFamily(target.family)?.readFailure(list.statusCode, {}, text);
    return failureOfStatus(failure?.status ?? list.statusCode);
  }
  const names = namesIn(await readBounded(list.body, bodyBytesMax));
  const { upstreamModel } = target;
  return names === null || upstreamModel === '' || names.has(upstreamModel) ? null : 'model';
}

/** A server without the endpoint still answers: that is all that can be known of it. */
function failureOfStatus(status: number): ProbeFailure | null {
  if (status === 401 || status === 403) return 'credential';
  if (status === 429) return 'busy';
  return status >= 500 ? 'failed' : null;
}

/** The headers of a real call say who we are, in the family's own way. */
function credentialHeaders(target: UpstreamTarget): Record<string, string> {
  const accept = 'application/json';
  const family = findFamily(target.family);
  if (family === null) return { ...mediaCredential(target), accept };
  const options = { outputTokensMax: 1, nativeSearch: false };
  const call = family.encodeRequest(smallestRequest, target, options);
  const kept = Object.entries(call.headers).filter(([name]) => !/^(content-|accept)/i.test(name));
  return { ...Object.fromEntries(kept), accept };
}

/** Families of sound and video: a probe must not open a session, speak or make a video. */
function mediaCredential({ family, apiKey }: UpstreamTarget): Record<string, string> {
  if (apiKey === null) return {};
  return ['gemini-live', 'google-veo'].includes(family)
    ? { 'x-goog-api-key': apiKey }
    : { authorization: `Bearer ${apiKey}` };
}

/** Every model of a complete list; null: it is none, or not complete. */
function namesIn(text: string | null): Set<string> | null {
  if (text === null) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return null;
  }
  const list = v.safeParse(listSchema, parsed);
  if (!list.success) return null;
  const { data = [], models = [], has_more, nextPageToken } = list.output;
  if (has_more === true || (nextPageToken ?? '') !== '') return null;
  const names = [
    ...data.map(({ id }) => id),
    ...models.map(({ name }) => name.replace(/^models\//, '')),
  ];
  return names.length === 0 ? null : new Set(names);
}
