// The modes that a person may prefer a model for, and which kind of model each takes.
import * as v from 'valibot';
import type { Catalog } from '../../../actors/catalog/current.ts';
import type { Preferences } from '../../../db/accounts/preferences.ts';
import type { ModelKind } from '../../../media/providers/model-kinds.ts';

const kinds = {
  chat: 'generation',
  code: 'generation',
  research: 'generation',
  agent: 'generation',
  voice: 'voice',
  speech: 'speech',
  transcription: 'transcription',
  video: 'video',
} as const satisfies Record<string, ModelKind>;

export type Mode = keyof typeof kinds;
export const modes = Object.keys(kinds) as Mode[];

/** The model that is preferred where no mode says otherwise is one of these. */
const defaultKind: ModelKind = 'generation';

/** Null: an alias that can be preferred. Otherwise what is wrong with it. */
export function aliasFault(catalog: Catalog, mode: Mode | null, alias: string): string | null {
  const wanted = mode === null ? defaultKind : kinds[mode];
  const found = catalog.models.get(alias) ?? catalog.routes.get(alias);
  if (found === undefined) return 'There is no enabled model of this name.';
  return found.kind === wanted ? null : `It is a ${found.kind} model; one of ${wanted} is needed.`;
}

const alias = v.strictObject({ alias: v.string(), available: v.boolean() });
const nullableAlias = v.nullable(v.pipe(alias, v.title('PreferredModel')));

export const preferencesSchema = v.strictObject({
  ok: v.literal(true),
  default_model: nullableAlias,
  modes: v.strictObject(
    Object.fromEntries(modes.map((mode) => [mode, nullableAlias])) as Record<
      Mode,
      typeof nullableAlias
    >,
  ),
  revision: v.pipe(v.number(), v.integer(), v.minValue(0), v.description('0: never saved.')),
  updated_at: v.nullable(v.string()),
});

/** Each alias with whether it can be used now, as it was good when it was saved. */
export function preferencesBody({ defaultModel, ...saved }: Preferences, catalog: Catalog) {
  const told = (mode: Mode | null, name: string | null | undefined) =>
    name === null || name === undefined
      ? null
      : { alias: name, available: isAvailable(catalog, mode, name) };
  return {
    ok: true,
    default_model: told(null, defaultModel),
    modes: Object.fromEntries(modes.map((mode) => [mode, told(mode, saved.modes[mode])])),
    revision: saved.revision,
    updated_at: saved.updatedAtMs === null ? null : new Date(saved.updatedAtMs).toISOString(),
  };
}

function isAvailable(catalog: Catalog, mode: Mode | null, name: string): boolean {
  if (aliasFault(catalog, mode, name) !== null) return false;
  return (catalog.models.get(name) ?? catalog.routes.get(name))?.public.available === true;
}

/** What is absent stays as it is; null takes it away. */
export function mergedModes(
  before: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string | null | undefined>>,
): Record<string, string> {
  const merged = Object.entries({ ...before, ...wanted });
  return Object.fromEntries(
    merged.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
