// What apps are told without being known: notices, releases and social profiles, as one state with
// a revision. Changes of it wait for each other, so that of two states the newer one is known.

import { type Audited, insertAuditEvent } from '../audit-events.ts';
import type { Queryable, Sql, Transaction } from '../driver/sql.ts';
import { listToldNotices, type Notice } from './notices.ts';
import { listToldReleases, type Release } from './releases.ts';
import { readSocialProfiles, type SocialProfiles } from './social-profiles.ts';

export interface Board {
  /** The board with the higher revision is the newer one. */
  revision: number;
  /** None of them is for named accounts, none has ended, and some begin later. */
  notices: Notice[];
  /** Published ones, the newest first. */
  releases: Release[];
  social: SocialProfiles;
}

export interface BoardChange<T> {
  result: T;
  /** Null: nothing was changed. */
  board: Board | null;
}

async function readContent(sql: Queryable, revision: number): Promise<Board> {
  const notices = await listToldNotices(sql);
  const releases = await listToldReleases(sql);
  const social = await readSocialProfiles(sql);
  return { revision, notices, releases, social };
}

/** The board as it is now, in one view of the database. */
export async function readBoard(sql: Sql): Promise<Board> {
  const board = await sql.begin('isolation level repeatable read read only', async (reading) =>
    readContent(reading, await readBoardRevision(reading)),
  );
  return board as Board;
}

export async function readBoardRevision(sql: Queryable): Promise<number> {
  const [row] = await sql<{ revision: number }[]>`
    SELECT revision::float8 AS revision FROM app_board`;
  return row?.revision ?? 0;
}

/** Makes a change with its event, and reads the board that it leaves, in one transaction. */
export async function changeBoard<T>(
  sql: Sql,
  change: (transaction: Transaction) => Promise<Audited<T>>,
): Promise<BoardChange<T>> {
  const changed = await sql.begin(async (transaction) => {
    await transaction`SELECT 1 FROM app_board FOR UPDATE`;
    const { result, event } = await change(transaction);
    if (event === null) return { result, board: null };
    await insertAuditEvent(transaction, event);
    const [row] = await transaction<{ revision: number }[]>`
      UPDATE app_board SET revision = revision + 1 RETURNING revision::float8 AS revision`;
    return { result, board: await readContent(transaction, row?.revision ?? 0) };
  });
  return changed as BoardChange<T>;
}
