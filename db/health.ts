// Whether the database answers, and how fast.
import type { Sql } from './sql.ts';

/** Milliseconds of a round trip, or null when there was no answer within `deadlineMs`. */
export async function databaseAnswers(sql: Sql, deadlineMs: number): Promise<number | null> {
  const startedAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), deadlineMs);
  });
  const answer = sql`SELECT 1`.then(
    () => true,
    () => false,
  );
  const answered = await Promise.race([answer, late]);
  clearTimeout(timer);
  if (!answered) return null;
  return Math.round((performance.now() - startedAt) * 100) / 100;
}
