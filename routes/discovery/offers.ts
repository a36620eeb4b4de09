// What is offered, as it is told to anybody: packages of credits and surfaces.
import * as v from 'valibot';

export const packageSchema = v.strictObject({
  slug: v.string(),
  name: v.string(),
  credits: v.pipe(v.number(), v.minValue(0)),
  price_usd: v.string(),
});
export const surfaceSchema = v.strictObject({ name: v.string(), display_name: v.string() });

type Package = v.InferOutput<typeof packageSchema>;
type Surface = v.InferOutput<typeof surfaceSchema>;

export function packageBody({ slug, name, credits, price_usd }: Package): Package {
  return { slug, name, credits, price_usd };
}

export function surfaceBody({ name, display_name }: Surface): Surface {
  return { name, display_name };
}
