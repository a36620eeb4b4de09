// The schema of an item of each kind: the one that replies are checked by.
import type * as v from 'valibot';
import { normalizedSchema } from '../../media/search/schema.ts';
import { type SurfaceKind, surfaceFacts } from '../../media/search/surfaces.ts';

const kinds = new Set<SurfaceKind>(Object.values(surfaceFacts).map(({ kind }) => kind));

const itemSchema = (kind: SurfaceKind): v.GenericSchema =>
  normalizedSchema(kind).pipe[0].entries.items.pipe[0].item;

export const itemSchemas = Object.fromEntries(
  [...kinds].map((kind) => [kind, itemSchema(kind)]),
) as Record<SurfaceKind, v.GenericSchema>;
