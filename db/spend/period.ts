// The periods of spend limits, in UTC: a day, a week from Monday, a month, or all of time. Pure.

export const spendPeriods = ['total', 'day', 'week', 'month'] as const;
export type SpendPeriod = (typeof spendPeriods)[number];

export interface PeriodBounds {
  startsMs: number;
  /** Its end, which is the start of the next one; null: it has none. */
  endsMs: number | null;
}

const dayMs = 86_400_000;
/** 1970-01-01 was a Thursday. */
const firstMondayMs = 4 * dayMs;

/** The period of this kind that the moment is in. */
export function periodAt(kind: SpendPeriod, atMs: number): PeriodBounds {
  switch (kind) {
    case 'total':
      return { startsMs: 0, endsMs: null };
    case 'day':
      return even(dayMs, 0, atMs);
    case 'week':
      return even(7 * dayMs, firstMondayMs, atMs);
    case 'month': {
      const at = new Date(atMs);
      const monthMs = (offset: number) => Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + offset);
      return { startsMs: monthMs(0), endsMs: monthMs(1) };
    }
  }
}

function even(lengthMs: number, originMs: number, atMs: number): PeriodBounds {
  const startsMs = Math.floor((atMs - originMs) / lengthMs) * lengthMs + originMs;
  return { startsMs, endsMs: startsMs + lengthMs };
}
