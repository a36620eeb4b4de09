// One real call of a provider, as small as calls get: the proof that a route works which costs its
// owner a few tokens. Customers are charged nothing.
import { type GenerationRequest, noControls, noSampling } from '../../model/request.ts';
import type { UpstreamClient } from './call.ts';
import type { UpstreamDeadlines, UpstreamTarget } from './contract.ts';
import { requireFamily } from './families.ts';

const text = 'Answer with the word ok.';
/** Some providers refuse a lower ceiling. */
const outputTokensMax = 16;

export const smallestRequest: GenerationRequest = {
  model: 'trial',
  messages: [{ role: 'user', parts: [{ type: 'text', text }], toolCalls: [], toolCallId: null }],
  tools: [],
  nativeTools: [],
  toolChoice: null,
  parallelToolCalls: null,
  outputFormat: { type: 'text' },
  outputTokensMax,
  sampling: noSampling,
  reasoning: null,
  controls: noControls,
  source: { format: 'legacy', body: {}, headers: {}, rewritten: true },
};

export type TrialFailure =
  | 'unreachable'
  | 'timeout'
  | 'credential'
  | 'model'
  | 'busy'
  | 'unpaid'
  | 'rejected'
  | 'failed';

export interface TrialResult {
  failure: TrialFailure | null;
  latencyMs: number;
}

/** Calls the target and reads its answer to the end. Never rejects. */
export function tryTarget(
  client: UpstreamClient,
  target: UpstreamTarget,
  deadlines: UpstreamDeadlines,
): Promise<TrialResult> {
  const family = requireFamily(target.family);
  const options = { outputTokensMax, nativeSearch: false };
  const call = family.encodeRequest(smallestRequest, target, options);
  const startedAt = performance.now();
  return new Promise((resolve) => {
    client.start(family, call, deadlines, {
      events: () => undefined,
      ended: (failure) => {
        const latencyMs = Math.round(performance.now() - startedAt);
        resolve({ failure: failure === null ? null : kindOf(failure), latencyMs });
      },
    });
  });
}

function kindOf(failure: { kind: string; status: number | null }): TrialFailure {
  if (failure.kind === 'unpaid') return 'unpaid';
  if (failure.status === 401 || failure.status === 403) return 'credential';
  if (failure.status === 404) return 'model';
  switch (failure.kind) {
    case 'connect':
      return 'unreachable';
    case 'timeout':
    case 'busy':
    case 'rejected':
      return failure.kind;
    default:
      return 'failed';
  }
}
