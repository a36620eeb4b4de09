// The decision of a managed route, pure. Filters first (capability, context, policy, health, cost
// guard), then the best for the task; among those as good, the cheap; among those as cheap, the
// better of two drawn at random by measured latency and success. The rest is the failover order.
import type { SvcRouting } from '../dialects/contract.ts';
import type { WireFormat } from '../request.ts';
import type { TaskCategory } from './category.ts';
import type { Task } from './classify.ts';
import type { Needs } from './needs.ts';
import { allowsModel, allowsProvider, type RoutingPolicy, smaller } from './policy.ts';

/** A provider route of a candidate, as it is at this moment. */
export interface CandidateRoute {
  routeId: string;
  provider: string;
  format: WireFormat | null;
  /** Its breaker admits a call and it asked for no pause. */
  healthy: boolean;
  /** 0 to 1. */
  successRate: number;
  firstEventMs: number | null;
}

export interface Candidate {
  alias: string;
  capabilities: readonly string[];
  contextWindow: number;
  outputTokensMax: number;
  /** 0 to 100. */
  quality: number;
  qualities: Partial<Record<TaskCategory, number>>;
  /** What this request would cost about, in microcredits. */
  costMicros: number;
  /** In order of preference. */
  routes: readonly CandidateRoute[];
}

export interface ChooseInput {
  pool: readonly Candidate[];
  needs: Needs;
  task: Task;
  policy: RoutingPolicy;
  /** The route's own guard, a fraction; the smaller one of it and the policy's counts. */
  costPremiumMax: number | null;
  /** The alias that the conversation's last turn had. */
  stickyAlias: string | null;
  /** Choose anew whatever the last turn had. */
  reroute: boolean;
  /** In [0, 1). */
  random: () => number;
}

export type DecisionCategory = SvcRouting['decision_category'];

/** A model to try, and its provider routes in the order to try them. */
export interface Choice {
  alias: string;
  routeIds: string[];
}

export interface Exclusion {
  alias: string;
  by: 'capability' | 'context' | 'policy' | 'preference' | 'health' | 'cost';
}

export type Decision =
  | {
      status: 'chosen';
      /** Never empty: the first is chosen, the others are tried when it fails. */
      candidates: [Choice, ...Choice[]];
      /** What decided: the last rule that took the best away or left one alone. */
      category: DecisionCategory;
      sticky: boolean;
      task: Task;
      excluded: Exclusion[];
    }
  | { status: 'none'; reason: 'capability' | 'context' | 'policy'; excluded: Exclusion[] };

/** Qualities this close are equal: they are estimates. */
const qualityBand = 5;
/** Costs this close are equal, as a fraction of the cheapest. */
const costBand = 0.1;

/** A candidate on its way through the filters, with the routes that are left of it. */
interface Contender {
  candidate: Candidate;
  routes: readonly CandidateRoute[];
  /** For the task, by its confidence. */
  quality: number;
  /** Quality times how often it succeeds. */
  merit: number;
}

interface Selection {
  left: Contender[];
  category: DecisionCategory;
  excluded: Exclusion[];
}

const exclusionCategory: Record<Exclusion['by'], DecisionCategory> = {
  capability: 'capability',
  context: 'capability',
  preference: 'capability',
  policy: 'policy',
  health: 'fallback',
  cost: 'cost',
};

/** Decides. The same input and the same numbers from `random` give the same decision. */
export function chooseModel(input: ChooseInput): Decision {
  const { needs, policy, task } = input;
  const selection: Selection = { left: contendersOf(input), category: 'quality', excluded: [] };
  narrow(selection, 'capability', (each) => isCapable(each, needs));
  if (selection.left.length === 0) return none('capability', selection);
  narrow(selection, 'context', ({ candidate }) => fits(candidate, needs));
  if (selection.left.length === 0) return none('context', selection);
  narrow(selection, 'policy', (each) => isAllowed(each, policy));
  if (selection.left.length === 0) return none('policy', selection);
  if (selection.left.some((each) => isPreferred(each, needs))) {
    narrow(selection, 'preference', (each) => isPreferred(each, needs));
  }
  keepHealthy(selection);
  guardCost(selection, smaller(input.costPremiumMax, policy.costPremiumMax));
  const ranked = rank(selection, input.random);
  const stuck = input.reroute ? undefined : ranked.find((each) => isSticky(each, input));
  const [first, ...others] = ranked;
  if (first === undefined) throw new Error('a selection that is not empty has a first');
  const rest = stuck === undefined ? others : ranked.filter((each) => each !== stuck);
  return {
    status: 'chosen',
    candidates: [choiceOf(stuck ?? first), ...rest.map(choiceOf)],
    category: stuck === undefined ? selection.category : 'sticky',
    sticky: stuck !== undefined,
    task,
    excluded: selection.excluded,
  };
}

function isSticky({ candidate }: Contender, { stickyAlias }: ChooseInput): boolean {
  return candidate.alias === stickyAlias;
}

function contendersOf({ pool, needs, policy, task }: ChooseInput): Contender[] {
  return pool.map((candidate) => {
    const routes = candidate.routes.filter(
      ({ provider, format }) =>
        (needs.format === null || format === needs.format) && allowsProvider(policy, provider),
    );
    const special = candidate.qualities[task.category] ?? candidate.quality;
    const quality = special * task.confidence + candidate.quality * (1 - task.confidence);
    const success = routes.reduce((best, route) => Math.max(best, route.successRate), 0);
    return { candidate, routes, quality, merit: quality * success };
  });
}

/** Takes out who does not pass; the rule decided if the best went or one alone is left. */
function narrow(
  selection: Selection,
  by: Exclusion['by'],
  passes: (contender: Contender) => boolean,
): void {
  const before = selection.left;
  const left = before.filter(passes);
  if (left.length === before.length) return;
  for (const each of before) {
    if (!left.includes(each)) selection.excluded.push({ alias: each.candidate.alias, by });
  }
  const best = bestOf(before, 'quality');
  if (left.length === 1 || (best !== undefined && !left.includes(best))) {
    selection.category = exclusionCategory[by];
  }
  selection.left = left;
}

function bestOf(contenders: readonly Contender[], by: 'quality' | 'merit'): Contender | undefined {
  let best = contenders[0];
  for (const each of contenders) if (best !== undefined && each[by] > best[by]) best = each;
  return best;
}

function none(reason: 'capability' | 'context' | 'policy', { excluded }: Selection): Decision {
  return { status: 'none', reason, excluded };
}

function isCapable({ candidate }: Contender, needs: Needs): boolean {
  // Not those that the policy leaves: what it takes away is its own doing.
  const { capabilities, routes } = candidate;
  if (!needs.capabilities.every((name) => capabilities.includes(name))) return false;
  return needs.format === null || routes.some(({ format }) => format === needs.format);
}

function isPreferred({ candidate }: Contender, needs: Needs): boolean {
  return needs.preferred.every((name) => candidate.capabilities.includes(name));
}

/** Who names no ceiling leaves a quarter of a small window for the answer. */
function fits({ contextWindow, outputTokensMax }: Candidate, needs: Needs): boolean {
  const wanted = needs.outputTokensMax ?? contextWindow / 4;
  return needs.inputTokens + Math.min(wanted, outputTokensMax) <= contextWindow;
}

function isAllowed({ candidate, routes }: Contender, policy: RoutingPolicy): boolean {
  return allowsModel(policy, candidate.alias) && routes.length > 0;
}

/** Without a single healthy one, all are tried: somebody must find out that one is well again. */
function keepHealthy(selection: Selection): void {
  if (!selection.left.some(isHealthy)) {
    selection.category = 'fallback';
    return;
  }
  narrow(selection, 'health', isHealthy);
  selection.left = selection.left.map((each) => {
    if (each.routes.every((route) => route.healthy)) return each;
    return { ...each, routes: each.routes.filter((route) => route.healthy) };
  });
}

function isHealthy({ routes }: Contender): boolean {
  return routes.some((route) => route.healthy);
}

function guardCost(selection: Selection, premiumMax: number | null): void {
  if (premiumMax === null) return;
  const bound = cheapest(selection.left) * (1 + premiumMax);
  narrow(selection, 'cost', ({ candidate }) => candidate.costMicros <= bound);
}

function cheapest(contenders: readonly Contender[]): number {
  return contenders.reduce(
    (least, { candidate }) => Math.min(least, candidate.costMicros),
    Number.POSITIVE_INFINITY,
  );
}

/** The chosen one, then the others by merit, the cheaper first of equals. */
function rank(selection: Selection, random: () => number): Contender[] {
  const { left } = selection;
  const best = bestOf(left, 'merit');
  const good = left.filter((each) => each.merit >= (best?.merit ?? 0) - qualityBand);
  const bound = cheapest(good) * (1 + costBand);
  const peers = good.filter(({ candidate }) => candidate.costMicros <= bound);
  if (best !== undefined && !peers.includes(best)) selection.category = 'cost';
  const chosen = betterOfTwo(peers, random);
  const others = left.filter((each) => each !== chosen);
  others.sort(
    (one, other) =>
      other.merit - one.merit || one.candidate.costMicros - other.candidate.costMicros,
  );
  return chosen === undefined ? others : [chosen, ...others];
}

/** Power of two choices: load spreads, and nobody is overrun because he was the best just now. */
function betterOfTwo(peers: readonly Contender[], random: () => number): Contender | undefined {
  const count = peers.length;
  if (count < 2) return peers[0];
  const one = Math.floor(random() * count);
  const draw = Math.floor(random() * (count - 1));
  const other = draw >= one ? draw + 1 : draw;
  const [first, second] = [peers[one], peers[other]];
  if (first === undefined || second === undefined) return first ?? second;
  const usualMs = usualFirstEventMs(peers);
  return slowness(first, usualMs) <= slowness(second, usualMs) ? first : second;
}

/** Expected time to an answer: latency, over how often there is one. */
function slowness({ routes }: Contender, usualMs: number): number {
  const [route] = routes;
  if (route === undefined) return Number.POSITIVE_INFINITY;
  return (route.firstEventMs ?? usualMs) / Math.max(route.successRate, 0.001);
}

/** Who was not measured lately is taken for the usual one. */
function usualFirstEventMs(contenders: readonly Contender[]): number {
  const known = contenders.flatMap(({ routes }) => routes[0]?.firstEventMs ?? []);
  if (known.length === 0) return 1;
  return known.reduce((sum, ms) => sum + ms, 0) / known.length;
}

function choiceOf({ candidate, routes }: Contender): Choice {
  return { alias: candidate.alias, routeIds: routes.map(({ routeId }) => routeId) };
}
