// Parameters that nobody here knows and that this family's providers do, each with what it is good
// for. None of them changes the price: `num` alone would.
import type { ParameterValue } from '../../../search/contract.ts';
import type { ServedSurface } from '../../../search/surfaces.ts';

export const passes: Readonly<Record<string, string>> = {
  autocorrect: 'a query that is meant as it is written is not to be corrected',
  tbs: 'sizes of pictures, and times that are finer than our four',
  yearFrom: 'papers have years, not times',
  yearTo: 'papers have years, not times',
};

const timed: ReadonlySet<ServedSurface> = new Set([
  'web_search',
  'engine_search',
  'engine_images',
  'engine_news',
  'engine_videos',
]);

export function takes(surface: ServedSurface, name: string, value: ParameterValue): boolean {
  switch (name) {
    case 'autocorrect':
      return typeof value === 'boolean';
    case 'tbs':
      return timed.has(surface) && typeof value === 'string' && /^[\w:,./-]{1,100}$/.test(value);
    default:
      return surface === 'engine_scholar' && isYear(value);
  }
}

function isYear(value: ParameterValue): boolean {
  const year = Number(value);
  return Number.isInteger(year) && year >= 1_000 && year <= 2_100;
}
