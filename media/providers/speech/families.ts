// Every family of speech and transcription upstreams by its name in the configuration.
import { strict as assert } from 'node:assert';
import type { AudioFamily } from './contract.ts';
import { openaiAudio } from './openai-audio/family.ts';

const families: ReadonlyMap<string, AudioFamily> = new Map([[openaiAudio.name, openaiAudio]]);

export const audioFamilyNames: readonly string[] = [...families.keys()];

/** The family of a catalog target: the catalog admits no other names. */
export function requireAudioFamily(name: string): AudioFamily {
  const family = families.get(name);
  assert(family !== undefined, `there is no audio family ${name}`);
  return family;
}
