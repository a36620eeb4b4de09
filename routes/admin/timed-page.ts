// Pages of a list that is in the order of times, which change: a cursor has the time and the id.
import type { TimedPlace } from '../../db/app/installations.ts';
import { pageReply, pageRequest } from '../page.ts';

const placePattern = /^(\d{4,5}-\d{2}-\d{2} [\d:.]{8,15}\+00) ([A-Za-z0-9._:-]{1,128})$/;

/** @throws Problem invalid_request */
export function timedRequest(query: Parameters<typeof pageRequest>[0]): {
  limit: number;
  before: TimedPlace | null;
} {
  const { limit, afterId } = pageRequest(query, placePattern);
  const [, at, id] = placePattern.exec(afterId ?? '') ?? [];
  return { limit, before: at === undefined || id === undefined ? null : { at, id } };
}

/** `rows` may have one more than a page. */
export function timedReply<Row extends TimedPlace, Item>(
  rows: readonly Row[],
  limit: number,
  itemOf: (row: Row) => Item,
) {
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return pageReply(shown.map(itemOf), last === undefined ? null : `${last.at} ${last.id}`);
}
