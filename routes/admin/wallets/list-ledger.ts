// GET /api/admin/wallets/{wallet_id}/ledger: the journal of a wallet, newest first. Every entry
// says how it changed the seven accounts; its amounts add up to zero.
import { withDeadline } from '../../../db/driver/sql.ts';
import { findWallet, type JournalPlace, listEntries } from '../../../db/journal.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';
import { entryBody, entrySchema, walletParams } from './schema.ts';

/** Microseconds and an operation id, which may hold anything visible, or nothing. */
const placePattern = /^\d{1,18} [\x21-\x7e]{0,150}$/;

export const listLedger = defineRoute({
  method: 'GET',
  path: '/api/admin/wallets/{wallet_id}/ledger',
  operationId: 'listWalletLedger',
  summary: 'List the journal of a wallet',
  description:
    'Newest first. Each entry is one operation: how much it added to or took from the accounts ' +
    'of the double entry, which sum to zero. A page reaches 30 days back at most: it may be ' +
    'short or empty and still have a `next_cursor`.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: walletParams,
  query: pageQuery,
  replies: { 200: { description: 'A page of entries.', schema: pageSchema(entrySchema) } },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, query, services }) {
    const { limit, afterId } = pageRequest(query, placePattern);
    const { sql } = services;
    const after = afterId === null ? null : placeOf(afterId);
    const wallet = await withDeadline(findWallet(sql, params.wallet_id));
    if (wallet === null) throw new Problem('not_found', { param: 'wallet_id' });
    const page = await withDeadline(listEntries(sql, wallet, limit, after));
    const next = page.next === null ? null : `${page.next.atMicros} ${page.next.operationId}`;
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(page.entries.map(entryBody), next) },
    };
  },
});

function placeOf(text: string): JournalPlace {
  const [micros = '', ...rest] = text.split(' ');
  return { atMicros: BigInt(micros), operationId: rest.join(' ') };
}
