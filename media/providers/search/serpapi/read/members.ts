// Looks into members that nobody vouches for.
import { isMembers, type Members } from '../../../../transport/members.ts';
import { entriesOf } from '../../reading.ts';

/** A member within members. */
export function within(value: unknown, ...names: string[]): unknown {
  let found = value;
  for (const name of names) found = isMembers(found) ? found[name] : undefined;
  return found;
}

/** The name in `{name}`, or the text itself. */
export function nameOf(value: unknown): unknown {
  return isMembers(value) ? value.name : value;
}

/** A picture by its address, or by the one of its sizes; never one that the provider keeps. */
export function pictureOf(value: unknown): unknown {
  const {
    static: still,
    thumbnail,
    original_image: original,
  } = isMembers(value) ? value : { static: value };
  const picture = still ?? thumbnail ?? original;
  return typeof picture === 'string' && picture.includes('//serpapi.com') ? undefined : picture;
}

/** The texts by which a list suggests further searches. */
export function relatedIn(body: Members): unknown[] {
  return entriesOf(body.related_searches)
    .map(({ query, title }) => query ?? title)
    .filter((text) => text !== undefined);
}
