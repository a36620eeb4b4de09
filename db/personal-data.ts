// What the database knows of people, domain by domain: what an export gives, and how it is erased.
// A domain that brings a table is a line here, or a test fails.
import type { Queryable, Transaction } from './driver/sql.ts';
import { appData, preferenceData } from './personal-data/app.ts';
import type { ErasingStep, ExportedList, PersonalDomain } from './personal-data/contract.ts';
import { exportData } from './personal-data/exports.ts';
import { conversationData, generationData, responseData } from './personal-data/generations.ts';
import {
  analysisData,
  generatedVideoData,
  videoJobData,
  voiceData,
} from './personal-data/media.ts';
import { auditData, walletData } from './personal-data/money.ts';
import { operationData } from './personal-data/operations.ts';
import { organizationAuditData } from './personal-data/organization-audit.ts';
import { organizationData } from './personal-data/organizations.ts';
import { paymentData } from './personal-data/payments.ts';
import {
  accountData,
  authorizationData,
  challengeData,
  keyData,
  mailData,
  sessionData,
} from './personal-data/person.ts';
import { promotionData, rewardData } from './personal-data/promotions.ts';

/** In the order in which they are exported and erased. */
export const personalData: readonly PersonalDomain[] = [
  accountData,
  challengeData,
  sessionData,
  authorizationData,
  keyData,
  mailData,
  preferenceData,
  appData,
  walletData,
  promotionData,
  rewardData,
  paymentData,
  generationData,
  // Behind the generations, which have their answers.
  responseData,
  conversationData,
  voiceData,
  videoJobData,
  generatedVideoData,
  analysisData,
  organizationData,
  exportData,
  auditData,
  organizationAuditData,
  operationData,
];

export interface PageBounds {
  rowsMax: number;
  /** A page ends behind the first row that is beyond it. */
  bytesMax: number;
}

/** Rows of a list behind a place, as JSON texts; none: the list is over. */
export async function readExportedPage(
  sql: Queryable,
  { from, where, cursor, item, weight = '0' }: ExportedList,
  accountId: string,
  after: string,
  { rowsMax, bytesMax }: PageBounds,
): Promise<{ cursor: string; item: string }[]> {
  const text = `WITH candidates AS MATERIALIZED (
      SELECT ${cursor} AS cursor, (${weight})::bigint AS weight FROM ${from}
      WHERE ${where} AND ${cursor} > $2 ORDER BY ${cursor} LIMIT $3),
    page AS (
      SELECT cursor, sum(weight) OVER (ORDER BY cursor) - weight AS bytes_before FROM candidates)
    SELECT x.cursor, (${item})::text AS item FROM page x JOIN ${from} ON ${cursor} = x.cursor
    WHERE x.bytes_before <= $4 AND ${where} ORDER BY x.cursor`;
  return sql.unsafe<{ cursor: string; item: string }[]>(text, [
    accountId,
    after,
    rowsMax,
    bytesMax,
  ]);
}

export interface ErasedPage {
  /** Where the next page begins; null: this was the last. */
  after: string | null;
  /** Objects that the rows named, which go with them. */
  blobIds: string[];
}

/** Erases one page of a step. */
export async function erasePage(
  transaction: Transaction,
  step: ErasingStep,
  accountId: string,
  after: string,
  rowsMax: number,
): Promise<ErasedPage> {
  const rows = await transaction.unsafe<{ cursor: string; blob_id: string | null }[]>(step, [
    accountId,
    after,
    rowsMax,
  ]);
  const blobIds = rows.map((row) => row.blob_id).filter((id) => id !== null);
  const last = rows.at(-1)?.cursor ?? null;
  return { after: rows.length < rowsMax ? null : last, blobIds };
}
