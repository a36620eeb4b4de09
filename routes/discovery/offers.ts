// What is offered, as it is told to anybody: packages of credits and surfaces.
import * as v from 'valibot';
import { publicSurface } from '../../actors/catalog/surface/build.ts';
import { type SurfaceKind, surfaceFacts } from '../../media/search/surfaces.ts';
import type { CatalogServices } from '../services.ts';

export const packageSchema = v.strictObject({
  slug: v.string(),
  name: v.string(),
  credits: v.pipe(v.number(), v.minValue(0)),
  price_usd: v.string(),
});
const surfaceKinds: readonly SurfaceKind[] = [
  ...new Set(Object.values(surfaceFacts).map(({ kind }) => kind)),
];

/** `kind` is null where a name is only displayed, `credits_per_query` where it is not offered. */
export const surfaceSchema = v.strictObject({
  name: v.string(),
  display_name: v.string(),
  kind: v.nullable(v.picklist(surfaceKinds)),
  available: v.boolean(),
  credits_per_query: v.nullable(v.string()),
});

type Package = v.InferOutput<typeof packageSchema>;
type SurfaceBody = v.InferOutput<typeof surfaceSchema>;

export function packageBody({ slug, name, credits, price_usd }: Package): Package {
  return { slug, name, credits, price_usd };
}

/** Surfaces as they are told now: one whose canary finds nothing is not there. */
export function surfaceBodies({ current, standings }: CatalogServices): SurfaceBody[] {
  return current().snapshot.surfaces.map((surface) => {
    const { name, displayName, kind, isOffered, price } = publicSurface(surface);
    return {
      name,
      display_name: displayName,
      kind,
      available: isOffered && standings.of(surface) !== 'unavailable',
      credits_per_query: price,
    };
  });
}
