// What tests of queries do to the catalog between cases: providers that rested are new again, and
// surfaces lose all targets but the first.
import assert from 'node:assert/strict';
import type { Testbed } from '../../harness/testbed.ts';
import { type AdminApi, everything } from '../admin/admin-api.ts';

/** A query that each surface can read. */
export function exampleOf(surface: string): string {
  if (surface === 'engine_flights') return 'ZRH to JFK';
  return surface === 'engine_routes' ? 'Bern to Zurich' : 'quiet harbour';
}

export interface SearchStage {
  /** Each surface has so many of its targets from now on. */
  setTargets(count: number): Promise<void>;
  /** Another key, or address, makes other routes: nothing is known of how the old ones were. */
  renew(apiKey?: string): Promise<void>;
  /** All providers of searches lead there; null: where they led. */
  moveTo(baseUrl: string | null, apiKey: string): Promise<void>;
}

interface SurfaceRecord {
  name: string;
  targets?: { provider: string }[];
}

interface ProviderRecord {
  name: string;
  base_url: string;
}

export async function openSearchStage(adminApi: AdminApi): Promise<SearchStage> {
  const surfaces = (await everything(adminApi, '/surfaces')) as unknown as SurfaceRecord[];
  const used = new Set(
    surfaces.flatMap(({ targets = [] }) => targets.map(({ provider }) => provider)),
  );
  const all = (await everything(adminApi, '/providers')) as unknown as ProviderRecord[];
  const providers = all.filter(({ name }) => used.has(name));
  assert.ok(providers.length > 1, 'several providers search');
  let renewals = 0;
  const change = async (path: string, body: Record<string, unknown>) => {
    const reply = await adminApi('PATCH', path, { body });
    assert.equal(reply.status, 200, `${path}: ${reply.text}`);
  };
  return {
    async setTargets(count) {
      for (const { name, targets = [] } of surfaces) {
        if (targets.length < 2) continue;
        await change(`/surfaces/${name}`, { targets: targets.slice(0, count) });
      }
    },
    async renew(apiKey) {
      renewals += 1;
      for (const { name } of providers) {
        await change(`/providers/${name}`, { api_key: `${apiKey ?? 'sim'}-${renewals}` });
      }
    },
    async moveTo(baseUrl, apiKey) {
      for (const { name, base_url } of providers) {
        const body = { base_url: baseUrl ?? base_url, api_key: apiKey };
        await change(`/providers/${name}`, body);
      }
    },
  };
}

/** What the development wallet has. */
export async function availableOf({ wallet, dev }: Testbed): Promise<bigint> {
  const balance = await wallet(dev.wallet_id, 'balance', {});
  assert.ok(balance.status === 'ok');
  return balance.availableMicros;
}
