// How tokens are drawn, where the model that was chosen does not let itself be told: whoever speaks
// to an alias cannot know that. What is left out is named to the client.
import type { GenerationRequest, Sampling } from '../../../model/request.ts';

/** The formats of clients share these names. */
export type SamplingMember = keyof typeof members;

/** The neutral member, and the value that asks for what happens anyway. */
const members = {
  temperature: ['temperature', 1],
  top_p: ['topP', 1],
  top_k: ['topK', 0],
  presence_penalty: ['presencePenalty', 0],
  frequency_penalty: ['frequencyPenalty', 0],
  logit_bias: [null, null],
} as const satisfies Record<string, readonly [keyof Sampling | null, number | null]>;

export interface Drawn {
  request: GenerationRequest;
  /** The members that are left out and were more than the usual. */
  dropped: readonly SamplingMember[];
}

const none: readonly SamplingMember[] = [];

/** The request without these members, in its neutral form and in the client's own body. */
export function withoutSampling(
  request: GenerationRequest,
  refused: readonly SamplingMember[],
): Drawn {
  const { source, sampling } = request;
  const given = refused.filter((name) => givenOf(request, name) !== null);
  if (given.length === 0) return { request, dropped: none };
  const body = { ...source.body };
  const left: Sampling = { ...sampling };
  for (const name of given) {
    const [neutral] = members[name];
    delete body[name];
    if (neutral !== null) left[neutral] = null;
  }
  return {
    request: { ...request, sampling: left, source: { ...source, body } },
    dropped: given.filter((name) => givenOf(request, name) !== members[name][1]),
  };
}

/** Some formats pass a member on that they do not read. */
function givenOf({ sampling, source }: GenerationRequest, name: SamplingMember): unknown {
  const [neutral] = members[name];
  const own = source.format === 'legacy' ? null : source.body[name];
  return (neutral === null ? null : sampling[neutral]) ?? own ?? null;
}
