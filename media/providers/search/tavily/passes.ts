// Parameters that nobody here knows and that Tavily does, each with what it is good for. None of
// them changes the price; depth and automatic parameters would, and are never here.
import type { ServedSurface } from '../../../search/surfaces.ts';

export const passes: Readonly<Record<string, string>> = {
  start_date: 'exact days are finer than our four times',
  end_date: 'exact days are finer than our four times',
  days: 'news have an age in days',
  exact_match: 'quoted words may be meant as they stand',
  include_images: 'pictures beside the pages',
  include_image_descriptions: 'pictures have a text',
  include_favicon: 'sites have an icon',
};

export function takes(surface: ServedSurface, name: string): boolean {
  return name === 'days' ? surface === 'engine_news' : Object.hasOwn(passes, name);
}
