// Times that clients write. `Date` makes 3 March of 31 February, and nothing of a zone that is the
// hour alone, which is why a pattern in a schema is not enough.

/** What a day or a time in ISO 8601 names, from 1970 to 9999; null where it names nothing. */
export function momentOf(text: string): Date | null {
  const moment = new Date(text);
  const year = moment.getUTCFullYear();
  if (!(year >= 1970 && year < 10_000)) return null;
  const day = text.slice(0, 10);
  const midnight = new Date(day);
  if (Number.isNaN(midnight.getTime())) return null;
  return midnight.toISOString().startsWith(day) ? moment : null;
}
