// Models of a pool and the question of a route, as tests of the decision ask it.
import type {
  Candidate,
  CandidateRoute,
  ChooseInput,
} from '../../../../media/model/choose/choose.ts';
import type { Needs } from '../../../../media/model/choose/needs.ts';
import { openPolicy } from '../../../../media/model/choose/policy.ts';

export function route(routeId: string, more: Partial<CandidateRoute> = {}): CandidateRoute {
  const [provider = ''] = routeId.split('/');
  const known = { format: 'chat', healthy: true, successRate: 1, firstEventMs: null } as const;
  return { routeId, provider, ...known, ...more };
}

/** A model of middling quality on one route that is well. */
export function candidate(alias: string, more: Partial<Candidate> = {}): Candidate {
  return {
    alias,
    capabilities: ['chat'],
    contextWindow: 10_000,
    outputTokensMax: 1_000,
    quality: 50,
    qualities: {},
    costMicros: 100,
    routes: [route(`p/${alias}`)],
    ...more,
  };
}

export const needs: Needs = {
  capabilities: [],
  preferred: [],
  format: null,
  inputTokens: 100,
  outputTokensMax: null,
};

export function input(pool: Candidate[], more: Partial<ChooseInput> = {}): ChooseInput {
  return {
    pool,
    needs,
    task: { category: 'chat', confidence: 1 },
    policy: openPolicy,
    costPremiumMax: null,
    stickyAlias: null,
    reroute: false,
    random: () => 0,
    ...more,
  };
}
