// What an organization, and a request, allow a managed route to choose. A request may only narrow:
// two policies together allow what both allow.
import { createHash } from 'node:crypto';

export interface RoutingPolicy {
  /** Null: every one that is not denied. An empty set allows none. */
  allowedProviders: ReadonlySet<string> | null;
  deniedProviders: ReadonlySet<string>;
  allowedModels: ReadonlySet<string> | null;
  deniedModels: ReadonlySet<string>;
  /** How much dearer than the cheapest, as a fraction (0.5: half); null: any. */
  costPremiumMax: number | null;
}

export const openPolicy: Readonly<RoutingPolicy> = Object.freeze({
  allowedProviders: null,
  deniedProviders: new Set<string>(),
  allowedModels: null,
  deniedModels: new Set<string>(),
  costPremiumMax: null,
});

const names = new Set([
  'allowed_providers',
  'denied_providers',
  'allowed_models',
  'denied_models',
  'max_cost_premium_percent',
]);
const entriesMax = 1_000;

/**
 * Reads a `routing_policy` (specification 2.7): lists of names, and a whole number of percent that
 * becomes a fraction. Absent and null members restrict nothing; an empty list of allowed names
 * allows none. Returns the name of the member that is wrong, if one is.
 */
export function readRoutingPolicy(
  value: unknown,
): { ok: true; policy: RoutingPolicy } | { ok: false; member: string } {
  if (value === null || value === undefined) return { ok: true, policy: openPolicy };
  if (typeof value !== 'object' || Array.isArray(value)) return { ok: false, member: '' };
  const record = value as Record<string, unknown>;
  const unknownName = Object.keys(record).find((name) => !names.has(name));
  if (unknownName !== undefined) return { ok: false, member: unknownName };
  const sets: Record<string, ReadonlySet<string> | null> = {};
  for (const name of names) {
    if (name === 'max_cost_premium_percent') continue;
    const set = readNames(record[name]);
    if (set === undefined) return { ok: false, member: name };
    sets[name] = set;
  }
  const percent = record.max_cost_premium_percent ?? null;
  const isPercent = typeof percent === 'number' && Number.isSafeInteger(percent) && percent >= 0;
  if (percent !== null && !isPercent) return { ok: false, member: 'max_cost_premium_percent' };
  return {
    ok: true,
    policy: {
      allowedProviders: sets.allowed_providers ?? null,
      deniedProviders: sets.denied_providers ?? new Set(),
      allowedModels: sets.allowed_models ?? null,
      deniedModels: sets.denied_models ?? new Set(),
      costPremiumMax: isPercent ? percent / 100 : null,
    },
  };
}

/** Null: absent; undefined: not a list of names. */
function readNames(value: unknown): ReadonlySet<string> | null | undefined {
  if (value === null || value === undefined) return null;
  if (!Array.isArray(value) || value.length > entriesMax) return undefined;
  if (!value.every((entry): entry is string => typeof entry === 'string')) return undefined;
  return new Set(value);
}

/** Moves with the rules of the decision. */
const rulesVersion = '1';

/** For receipts: the version of the rules, and a name of the policy where there is one. */
export function policyVersion(policy: RoutingPolicy): string {
  if (policy === openPolicy) return rulesVersion;
  const { allowedProviders, deniedProviders, allowedModels, deniedModels } = policy;
  const sorted = [allowedProviders, deniedProviders, allowedModels, deniedModels].map((set) =>
    set === null ? null : [...set].sort(),
  );
  const text = JSON.stringify([...sorted, policy.costPremiumMax]);
  return `${rulesVersion}.${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
}

/** What both allow. */
export function narrowPolicy(one: RoutingPolicy, other: RoutingPolicy): RoutingPolicy {
  if (other === openPolicy) return one;
  if (one === openPolicy) return other;
  return {
    allowedProviders: intersection(one.allowedProviders, other.allowedProviders),
    deniedProviders: union(one.deniedProviders, other.deniedProviders),
    allowedModels: intersection(one.allowedModels, other.allowedModels),
    deniedModels: union(one.deniedModels, other.deniedModels),
    costPremiumMax: smaller(one.costPremiumMax, other.costPremiumMax),
  };
}

export function allowsModel(policy: RoutingPolicy, alias: string): boolean {
  return (policy.allowedModels?.has(alias) ?? true) && !policy.deniedModels.has(alias);
}

export function allowsProvider(policy: RoutingPolicy, provider: string): boolean {
  return (policy.allowedProviders?.has(provider) ?? true) && !policy.deniedProviders.has(provider);
}

/** Null is no bound. */
export function smaller(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

function intersection(
  one: ReadonlySet<string> | null,
  other: ReadonlySet<string> | null,
): ReadonlySet<string> | null {
  if (one === null || other === null) return one ?? other;
  return new Set([...one].filter((name) => other.has(name)));
}

function union(one: ReadonlySet<string>, other: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...one, ...other]);
}
