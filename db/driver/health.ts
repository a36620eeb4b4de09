// Whether the database answers, and how fast.
import { AwakeTimer } from '../../runtime/awake.ts';
import type { Sql } from './sql.ts';

/** Milliseconds of a round trip, or null when there was no answer within `deadlineMs`. */
export async function databaseAnswers(sql: Sql, deadlineMs: number): Promise<number | null> {
  const startedAt = performance.now();
  const answered = await new Promise<boolean>((resolve) => {
    const late = new AwakeTimer(deadlineMs, () => resolve(false));
    const tell = (isWell: boolean) => {
      late.cancel();
      resolve(isWell);
    };
    sql`SELECT 1`.then(
      () => tell(true),
      () => tell(false),
    );
  });
  if (!answered) return null;
  return Math.round((performance.now() - startedAt) * 100) / 100;
}
