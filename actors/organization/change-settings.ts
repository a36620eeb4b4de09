// What a change of settings comes to: merged over what stands, checked where a schema cannot, and
// told as the audit keeps it.
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { readHostPattern } from './host-pattern.ts';
import { defaultSettings, type OrganizationSettings, type SettingsChange } from './settings.ts';

export interface SettingsFault {
  /** `allowed_mcp_domains.3` */
  path: string;
  message: string;
  reason: 'region_unavailable' | null;
}

/** What a record of the audit has room for, less what canonical form may add. */
const DETAILS_BYTES_MAX = 4_000;

/**
 * The wanted settings in the form in which they are kept.
 * @param region of this deployment; null: it has none.
 */
export function normalizeChange(
  change: SettingsChange,
  region: string | null,
): { ok: true; change: SettingsChange } | { ok: false; fault: SettingsFault } {
  const { data_residency_region: wanted, allowed_mcp_domains: patterns } = change;
  if (wanted !== undefined && wanted !== 'auto' && wanted !== region) {
    const message = 'This deployment does not stand in that region.';
    const path = 'data_residency_region';
    return { ok: false, fault: { path, message, reason: 'region_unavailable' } };
  }
  if (patterns === undefined) return { ok: true, change };
  const read = patterns.map(readHostPattern);
  const wrong = read.indexOf(null);
  if (wrong >= 0) {
    const message = 'expected a host, or *. before one that is no public suffix';
    return { ok: false, fault: { path: `allowed_mcp_domains.${wrong}`, message, reason: null } };
  }
  const unique = [...new Set(read.flatMap((pattern) => pattern ?? []))];
  return { ok: true, change: { ...change, allowed_mcp_domains: unique } };
}

/** What the row has from now on: what differs from the defaults. */
export function mergeSettings(
  before: OrganizationSettings,
  change: SettingsChange,
): { after: OrganizationSettings; stored: Partial<OrganizationSettings> } {
  const after = { ...before, ...change } as OrganizationSettings;
  const differing = Object.entries(after).filter(([name, value]) => {
    return !isDeepStrictEqual(value, defaultSettings[name as keyof OrganizationSettings]);
  });
  return { after, stored: Object.fromEntries(differing) };
}

/** Names of the settings that are others afterwards. */
export function changedSettings(
  before: OrganizationSettings,
  after: OrganizationSettings,
): (keyof OrganizationSettings)[] {
  const names = Object.keys(defaultSettings) as (keyof OrganizationSettings)[];
  return names.filter((name) => !isDeepStrictEqual(before[name], after[name]));
}

/** For the audit: before and after; of a list what was added and removed, as far as it has room. */
export function settingsDetails(
  before: OrganizationSettings,
  after: OrganizationSettings,
): Record<string, unknown> {
  const names = changedSettings(before, after);
  const details = Object.fromEntries(
    names.map((name) => [name, differenceOf(before[name], after[name])]),
  );
  const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
  const bySize = names.sort((left, right) => sizeOf(details[right]) - sizeOf(details[left]));
  for (const name of bySize) {
    if (sizeOf(details) <= DETAILS_BYTES_MAX) break;
    details[name] = [summaryOf(before[name]), summaryOf(after[name])];
  }
  return details;
}

function differenceOf(before: unknown, after: unknown): unknown {
  if (!Array.isArray(before) || !Array.isArray(after)) return [before, after];
  return {
    added: after.filter((each) => !before.includes(each)),
    removed: before.filter((each) => !after.includes(each)),
  };
}

/** What stands for a member that has no room. */
function summaryOf(value: unknown): { count: number; sha256: string } {
  const sha256 = createHash('sha256').update(JSON.stringify(value)).digest('hex');
  const lists = Array.isArray(value) ? [value] : Object.values(value ?? {}).filter(Array.isArray);
  return { count: lists.reduce((sum, list) => sum + list.length, 0), sha256 };
}
