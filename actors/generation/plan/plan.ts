// The plan of a generation on a managed route: the decision, and the attempts that follow from it.
// Pure but for the health of this moment and the numbers of `random`.
import { chooseModel, type Decision } from '../../../media/model/choose/choose.ts';
import { classifyTask } from '../../../media/model/choose/classify.ts';
import { needsOf } from '../../../media/model/choose/needs.ts';
import type { RoutingPolicy } from '../../../media/model/choose/policy.ts';
import type { GenerationRequest } from '../../../media/model/request.ts';
import type { UpstreamTarget } from '../../../media/providers/generation/contract.ts';
import type { ManagedRoute } from '../../catalog/managed.ts';
import type { CatalogModel } from '../../catalog/model.ts';
import { attemptsOf, type CandidateSources, candidatesOf } from './candidates.ts';

export interface PlanInput extends CandidateSources {
  route: ManagedRoute;
  request: GenerationRequest;
  inputTokens: number;
  /** The organization's policy, narrowed by the request; `openPolicy` where there is none. */
  policy: RoutingPolicy;
  /** The model of the conversation's last turn on this route. */
  stickyAlias: string | null;
  /** Capabilities that the request's own content does not show, such as `web_search`. */
  extraCapabilities: readonly string[];
  random: () => number;
}

export interface Attempt {
  model: CatalogModel;
  target: UpstreamTarget;
}

export type Plan =
  | {
      status: 'planned';
      /** In the order to try them: every provider route of a model, then the next model. */
      attempts: [Attempt, ...Attempt[]];
      decision: Extract<Decision, { status: 'chosen' }>;
    }
  | Extract<Decision, { status: 'none' }>;

/** Decides which models, on which provider routes, in which order. */
export function planRoute(input: PlanInput): Plan {
  const { route, request, policy, stickyAlias, random } = input;
  const needs = needsOf(request, input.inputTokens, input.extraCapabilities);
  const decision = chooseModel({
    pool: candidatesOf(route, needs, input),
    needs,
    task: classifyTask(request),
    policy,
    costPremiumMax: route.costPremiumMax,
    stickyAlias,
    reroute: request.controls.reroute,
    random,
  });
  if (decision.status === 'none') return decision;
  const [first, ...others] = attemptsOf(route, decision.candidates);
  if (first === undefined) throw new Error(`route ${route.alias} chose what it does not have`);
  return { status: 'planned', attempts: [first, ...others], decision };
}
