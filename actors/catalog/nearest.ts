// The alias that somebody probably meant, pure: the one with the longest part that looks like what
// was asked for. Aliases have a provider's name in front, and clients a date behind.

/** One comparison of two characters is a step. So many take about a millisecond. */
const stepsMax = 200_000;
/** Shorter names are like many; and of a longer one a shorter part says nothing. */
const askedMin = 3;
const scoreMin = 4;

/**
 * The nearest of the aliases; null: none is near. Aliases beyond 200,000 steps of work are not
 * looked at, which are a thousand of usual length.
 */
export function nearestAlias(asked: string, aliases: readonly string[]): string | null {
  const wanted = folded(asked);
  let nearest: string | null = null;
  let best = 0;
  let steps = 0;
  for (const alias of aliases) {
    steps += wanted.length * alias.length;
    if (steps > stepsMax) break;
    const score = likeness(wanted, folded(alias));
    const shorter = Math.min(wanted.length, alias.length);
    if (shorter < askedMin || score < Math.max(Math.min(scoreMin, shorter), shorter / 3)) continue;
    const isCloser =
      nearest !== null && score === best && distance(asked, alias) < distance(asked, nearest);
    if (score > best || isCloser) [nearest, best] = [alias, score];
  }
  return nearest;
}

/** Names differ in case and in what stands between their parts. */
function folded(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '-');
}

function distance(asked: string, alias: string): number {
  return Math.abs(asked.length - alias.length);
}

/**
 * The most that a part of one has in common with a part of the other (Smith and Waterman, 1981).
 * Each common character is a point; each that is another, missing or too much takes one away.
 */
function likeness(one: string, other: string): number {
  let best = 0;
  let above = new Uint8Array(other.length + 1);
  let row = new Uint8Array(other.length + 1);
  for (let i = 0; i < one.length; i += 1) {
    for (let j = 0; j < other.length; j += 1) {
      const isSame = one.charCodeAt(i) === other.charCodeAt(j);
      const along = (above[j] ?? 0) + (isSame ? 1 : -1);
      const beside = Math.max(above[j + 1] ?? 0, row[j] ?? 0) - 1;
      const score = Math.max(0, along, beside);
      row[j + 1] = score;
      if (score > best) best = score;
    }
    [above, row] = [row, above];
  }
  return best;
}
