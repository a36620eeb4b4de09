// What a model of the catalog is for, and which provider families can run which kind of model.
import { familyNames } from './generation/families.ts';
import { liveFamilyNames } from './live/families.ts';
import { audioFamilyNames } from './speech/families.ts';
import { videoFamilyNames } from './video/families.ts';

export const modelKinds = ['generation', 'voice', 'speech', 'transcription', 'video'] as const;

export type ModelKind = (typeof modelKinds)[number];

const families: Readonly<Record<ModelKind, readonly string[]>> = {
  generation: familyNames,
  voice: liveFamilyNames,
  speech: audioFamilyNames,
  transcription: audioFamilyNames,
  video: videoFamilyNames,
};

/** Families of providers that run models of any kind. */
export const modelFamilyNames: readonly string[] = [...new Set(Object.values(families).flat())];

/** Whether a provider of this family can run models of this kind. */
export function fitsKind(family: string, kind: ModelKind): boolean {
  return families[kind].includes(family);
}
