// What an organization's settings forbid of the catalog.
import { openPolicy, readRoutingPolicy } from '../../media/model/choose/policy.ts';
import type { ModelRules } from '../catalog/ruled/rules.ts';
import type { OrganizationContext } from './context.ts';
import type { OrganizationSettings } from './settings.ts';

/** Settings are read anew when they change: the same object has the same rules. */
const known = new WeakMap<OrganizationSettings, ModelRules | null>();

/** Null: nothing is forbidden. */
export function rulesOf(settings: OrganizationSettings): ModelRules | null {
  const found = known.get(settings);
  if (found !== undefined) return found;
  const rules = readRules(settings);
  known.set(settings, rules);
  return rules;
}

/** Null: whoever acts does so as a person, or nothing is forbidden. */
export function rulesIn(organization: OrganizationContext | null): ModelRules | null {
  return organization === null ? null : rulesOf(organization.settings);
}

function readRules({
  routing_policy: stored,
  data_residency_region: region,
}: OrganizationSettings): ModelRules | null {
  const read = readRoutingPolicy(stored);
  // It was checked when it was stored: what is not understood now must not allow more.
  if (!read.ok) throw new Error(`a stored routing policy is wrong at ${read.member}`);
  const isOpen = Object.values(stored).every((each) => (each ?? null) === null);
  if (isOpen && region === 'auto') return null;
  return { routing: isOpen ? openPolicy : read.policy, region: region === 'auto' ? null : region };
}
