// Every family of video providers by its name in the configuration.
import { strict as assert } from 'node:assert';
import type { VideoFamily } from './contract.ts';
import { googleVeo } from './google-veo/family.ts';
import { openaiVideos } from './openai-videos/family.ts';
import { xaiImagine } from './xai-imagine/family.ts';

const families: ReadonlyMap<string, VideoFamily> = new Map(
  [googleVeo, xaiImagine, openaiVideos].map((family) => [family.name, family]),
);

export const videoFamilyNames: readonly string[] = [...families.keys()];

/** The family of a catalog target: the catalog admits no other names. */
export function requireVideoFamily(name: string): VideoFamily {
  const family = families.get(name);
  assert(family !== undefined, `there is no video family ${name}`);
  return family;
}
