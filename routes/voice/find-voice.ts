// Voices by the ids that callers name: those of the catalog's voice model first, then those of
// other voice models that an administrator has enabled.
import type { Catalog } from '../../actors/catalog/current.ts';
import type { CatalogModel } from '../../actors/catalog/model.ts';
import type { ChosenVoice } from '../../actors/voice/spec.ts';
import { voiceModelAlias } from './schema.ts';

/** The model of the public voice catalog; null: there is none. */
export function voiceModelOf({ models }: Catalog): CatalogModel | null {
  const model = models.get(voiceModelAlias);
  return model?.kind === 'voice' ? model : null;
}

/** Null: no such voice. */
export function findVoice(catalog: Catalog, voiceId: string): ChosenVoice | null {
  const first = voiceModelOf(catalog);
  const others = catalog.snapshot.models.filter(({ kind }) => kind === 'voice');
  for (const model of first === null ? others : [first, ...others]) {
    if (!Object.hasOwn(model.voices, voiceId)) continue;
    const upstreamVoice = model.voices[voiceId];
    if (upstreamVoice !== undefined) return { model, upstreamVoice };
  }
  return null;
}
