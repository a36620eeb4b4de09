// Every family of realtime voice upstreams by its name in the configuration.
import { strict as assert } from 'node:assert';
import type { LiveFamily } from './contract.ts';
import { geminiLive } from './gemini-live/family.ts';
import { openaiRealtime } from './openai-realtime/family.ts';

const families: ReadonlyMap<string, LiveFamily> = new Map(
  [openaiRealtime, geminiLive].map((family) => [family.name, family]),
);

export const liveFamilyNames: readonly string[] = [...families.keys()];

/** The family of a catalog target: the catalog admits no other names. */
export function requireLiveFamily(name: string): LiveFamily {
  const family = families.get(name);
  assert(family !== undefined, `there is no live family ${name}`);
  return family;
}
