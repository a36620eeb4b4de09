// Voices by the ids that callers name: those of the catalog's voice model first, then those of
// other voice models that an administrator has enabled.
import type { Catalog } from '../../actors/catalog/current.ts';
import type { CatalogModel } from '../../actors/catalog/model.ts';
import { isRuled } from '../../actors/catalog/ruled/rules.ts';
import { withheldModel } from '../../actors/catalog/use.ts';
import type { ChosenVoice } from '../../actors/voice/spec.ts';
import { mayName, notAllowed } from '../keys/allowed.ts';
import type { SocketCaller } from '../services.ts';
import { voiceModelAlias } from './schema.ts';

/** The model of the public voice catalog; null: there is none. */
export function voiceModelOf({ models }: Catalog): CatalogModel | null {
  const model = models.get(voiceModelAlias);
  return model?.kind === 'voice' ? model : null;
}

function voiceModels(catalog: Catalog): readonly CatalogModel[] {
  const first = voiceModelOf(catalog);
  const others = catalog.snapshot.models.filter(({ kind }) => kind === 'voice');
  return first === null ? others : [first, ...others];
}

/** @throws Problem policy_blocked when the caller may use none of the models of voices */
export function requireVoices(catalog: Catalog, caller: SocketCaller): void {
  const [first] = voiceModels(catalog);
  if (first === undefined) {
    requireNoneWithheld(catalog);
    return;
  }
  if (voiceModels(catalog).some(({ alias }) => mayName(caller, alias))) return;
  throw notAllowed(first.alias, null);
}

/** Where rules have left none. @throws Problem policy_blocked */
function requireNoneWithheld(catalog: Catalog): void {
  if (!isRuled(catalog)) return;
  for (const [alias, { kind, rule }] of catalog.withheld) {
    if (kind === 'voice') throw withheldModel(alias, rule, null);
  }
}

/** Null: no such voice, or none that the caller may have. */
export function findVoice(
  catalog: Catalog,
  caller: SocketCaller,
  voiceId: string,
): ChosenVoice | null {
  for (const model of voiceModels(catalog)) {
    if (!mayName(caller, model.alias)) continue;
    if (!Object.hasOwn(model.voices, voiceId)) continue;
    const upstreamVoice = model.voices[voiceId];
    if (upstreamVoice !== undefined) return { model, upstreamVoice };
  }
  return null;
}
