// What a model of the catalog may be used for: a model of another kind is none here, and the answer
// says where it is used. A name that is none at all is answered with the nearest one.
import type { ModelKind } from '../../media/providers/model-kinds.ts';
import { Problem } from '../../runtime/problem.ts';
import type { Catalog } from './current.ts';
import type { ManagedRoute } from './managed.ts';
import type { CatalogModel } from './model.ts';
import { nearestAlias } from './nearest.ts';
import { isRuled, type ModelRule } from './ruled/rules.ts';
import { callableEntries } from './snapshot.ts';

const askedMax = 100;

const places: Readonly<Record<ModelKind, string>> = {
  generation: 'the generation routes',
  voice: 'voice sessions',
  speech: '/v1/audio/speech',
  transcription: '/v1/audio/transcriptions',
  video: '/v1/video/generations',
};

/**
 * A managed route is used as the models of its pool are.
 * @throws Problem model_not_found
 */
export function requireKind(
  { alias, kind }: Pick<CatalogModel | ManagedRoute, 'alias' | 'kind'>,
  wanted: ModelKind,
): void {
  if (kind === wanted) return;
  throw new Problem('model_not_found', {
    message: `${JSON.stringify(alias)} is a ${kind} model: it is used with ${places[kind]}.`,
    param: 'model',
  });
}

/** The refusal of an alias that is there, and that a rule forbids. */
export function withheldModel(alias: string, rule: ModelRule, param: string | null): Problem {
  return new Problem('policy_blocked', {
    message: `A policy does not allow the model ${JSON.stringify(alias)}.`,
    details: { rule, model: alias },
    ...(param === null ? {} : { param }),
  });
}

/**
 * The answer to a name that no model has, or none that may be used. It says where the list is, and
 * which alias is nearest: one that can be called, of the kind that was asked for.
 */
export function unknownModel(
  catalog: Pick<Catalog, 'snapshot'>,
  asked: string,
  kind: ModelKind | null,
  param = 'model',
): Problem {
  const { snapshot } = catalog;
  const withheld = isRuled(catalog) ? catalog.withheld.get(asked) : undefined;
  if (withheld !== undefined) return withheldModel(asked, withheld.rule, param);
  const shown = asked.slice(0, askedMax);
  const aliases = callableEntries(snapshot)
    .filter((entry) => kind === null || kind === entry.kind)
    .map(({ alias }) => alias);
  const nearest = nearestAlias(shown, aliases);
  const hint = nearest === null ? '' : ` The nearest is ${JSON.stringify(nearest)}.`;
  return new Problem('model_not_found', {
    message: `There is no model ${JSON.stringify(shown)}.${hint} GET /v1/models lists them.`,
    param,
  });
}
