// Lists of account resources, a page at a time: `limit` 1 to 100 (default 20), `cursor` opaque.
import * as v from 'valibot';
import { maxCharacters } from '../runtime/http/text.ts';
import { Problem } from '../runtime/problem.ts';

const limitDefault = 20;

export const pageQuery = v.object({
  limit: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.maxValue(100),
      v.description(`${limitDefault} if absent.`),
    ),
  ),
  cursor: v.optional(
    v.pipe(
      v.string(),
      v.minLength(1),
      maxCharacters(200),
      v.description('`next_cursor` of the page before.'),
    ),
  ),
});

/** The rows after `afterId` (exclusive), in the order of the list, at most `limit`. */
export interface PageRequest {
  limit: number;
  afterId: string | null;
}

const idPattern = /^[a-z]+_[a-f0-9]{24}$/;

/**
 * What page is asked for; `pattern` is what a cursor of this list holds.
 * @throws Problem invalid_request
 */
export function pageRequest(
  query: Partial<v.InferOutput<typeof pageQuery>>,
  pattern: RegExp = idPattern,
): PageRequest {
  const { limit = limitDefault } = query;
  if (query.cursor === undefined) return { limit, afterId: null };
  const afterId = Buffer.from(query.cursor, 'base64url').toString('utf8');
  if (!pattern.test(afterId)) {
    throw new Problem('invalid_request', { message: 'The cursor is not ours.', param: 'cursor' });
  }
  return { limit, afterId };
}

export function pageReply<Item>(
  data: Item[],
  lastId: string | null,
): { data: Item[]; next_cursor: string | null } {
  const next_cursor = lastId === null ? null : Buffer.from(lastId).toString('base64url');
  return { data, next_cursor };
}

export function pageSchema<S extends v.GenericSchema>(item: S) {
  return v.strictObject({
    ok: v.literal(true),
    data: v.array(item),
    next_cursor: v.nullable(v.string()),
  });
}
