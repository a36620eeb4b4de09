// Rows of voice sessions: how the ledger's statement makes and ends them, and the checkpoints of
// their usage in between. A checkpoint that comes after the end changes nothing.
import { columnLiteral } from '../driver/array.ts';
import { lookedUp, ownedRow } from '../driver/lookup.ts';
import type { Queryable } from '../driver/sql.ts';
import type { HolderRows } from '../ledger/holder.ts';
import { bigintsOf, type Column, definePart, type Part } from '../ledger/part.ts';
import { ownedRows } from '../ledger/write.ts';
import { latePart } from '../usage/late.ts';

/** A session that begins with its hold. */
export interface SessionClaimRow {
  id: string;
  accountId: string;
  apiKeyId: string | null;
  model: string;
  voiceId: string;
  instanceId: string;
  holdId: string;
}

export interface SessionUsage {
  inputSpeechTokens: number;
  inputTextTokens: number;
  outputSpeechTokens: number;
  outputTextTokens: number;
  searchCalls: number;
}

export interface SessionFinishRow {
  id: string;
  reason: string;
  source: 'reported' | 'estimated' | 'none';
  /** Null: the last checkpoint stands. */
  usage: SessionUsage | null;
  chargeMicros: bigint | null;
  /** A settlement after a release: may give an ended session its charge. */
  late: boolean;
}

const usageMembers = [
  ['input_speech_tokens', 'inputSpeechTokens'],
  ['input_text_tokens', 'inputTextTokens'],
  ['output_speech_tokens', 'outputSpeechTokens'],
  ['output_text_tokens', 'outputTextTokens'],
  ['search_calls', 'searchCalls'],
] as const satisfies [string, keyof SessionUsage][];
export const usageColumns = usageMembers.map(([name]) => name);

export type UsageRow = Record<(typeof usageMembers)[number][0], bigint | null>;

/** Null: there is no session in this row. */
export function readUsage(row: UsageRow): SessionUsage | null {
  if (row.search_calls === null) return null;
  return {
    inputSpeechTokens: Number(row.input_speech_tokens),
    inputTextTokens: Number(row.input_text_tokens),
    outputSpeechTokens: Number(row.output_speech_tokens),
    outputTextTokens: Number(row.output_text_tokens),
    searchCalls: Number(row.search_calls),
  };
}

/** What a live session has used so far, and what that costs. */
export interface SessionCheckpoint {
  id: string;
  usage: SessionUsage;
  dueMicros: bigint;
  dueProviderMicros: bigint;
}

const checkpointColumns: readonly Column<SessionCheckpoint>[] = [
  ['id', 'text', ({ id }) => id],
  ...bigintsOf(usageMembers, ({ usage }: SessionCheckpoint) => usage),
  ['due_micros', 'bigint', ({ dueMicros }) => dueMicros],
  ['due_provider_micros', 'bigint', ({ dueProviderMicros }) => dueProviderMicros],
];

const checkpointTypes = checkpointColumns.map(([, type], index) => `$${index + 1}::${type}[]`);
const checkpointSet = `${usageColumns.map((name) => `${name} = r.${name}`).join(', ')},
  due_micros = r.due_micros, due_provider_micros = r.due_provider_micros`;

/** The parts of the ledger's statement that make sessions, note what they owe, and end them. */
const parts: readonly Part[] = [
  definePart<SessionClaimRow>({
    name: 'session_claims',
    rows: (write) => ownedRows(write, 'session_claims'),
    columns: [
      ['id', 'text', (claim) => claim.id],
      ['account_id', 'text', (claim) => claim.accountId],
      ['api_key_id', 'text', (claim) => claim.apiKeyId],
      ['model', 'text', (claim) => claim.model],
      ['voice_id', 'text', (claim) => claim.voiceId],
      ['instance_id', 'text', (claim) => claim.instanceId],
      ['hold_id', 'text', (claim) => claim.holdId],
    ],
    text: (rows) => `INSERT INTO voice_sessions (id, account_id, wallet_id, api_key_id, model,
        voice_id, instance_id, hold_id)
      SELECT r.id, r.account_id, r.wallet_id, r.api_key_id, r.model, r.voice_id, r.instance_id,
        r.hold_id FROM ${rows}`,
  }),
  definePart<SessionCheckpoint>({
    name: 'session_dues',
    rows: (write) => ownedRows(write, 'session_dues'),
    columns: checkpointColumns,
    text: (rows) => `UPDATE voice_sessions s SET ${checkpointSet}
      FROM ${rows} WHERE ${ownedRow('s')} AND s.state <> 'ended'`,
  }),
  definePart<SessionFinishRow>({
    name: 'session_finishes',
    isCounted: true,
    rows: (write) => ownedRows(write, 'session_finishes'),
    columns: [
      ['id', 'text', (finish) => finish.id],
      ['reason', 'text', (finish) => finish.reason],
      ['source', 'text', (finish) => finish.source],
      ...bigintsOf(usageMembers, (finish: SessionFinishRow) => finish.usage),
      ['charge_micros', 'bigint', (finish) => finish.chargeMicros],
      ['late', 'boolean', (finish) => finish.late],
    ],
    text: (rows) => `UPDATE voice_sessions s SET state = 'ended', reason = r.reason,
        source = r.source, charge_micros = r.charge_micros,
        ${usageColumns.map((name) => `${name} = coalesce(r.${name}, s.${name})`).join(', ')},
        ended_at = coalesce(s.ended_at, now())
      FROM ${rows} WHERE ${ownedRow('s')} AND (s.state = 'live'
        OR (r.late AND s.charge_micros IS NULL))`,
  }),
  latePart('session_finishes'),
];

/** Voice sessions as holders of funds. */
export const voiceSessionRows: HolderRows = {
  kind: 'voice_session',
  idPrefix: 'vs',
  outlivesProcess: false,
  parts,
  table: 'voice_sessions',
  alias: 's',
  state: 'state',
  live: ['live'],
  charged: 'true',
  isKeyed: true,
  leftColumns: ['due_micros', 'due_provider_micros', ...usageColumns],
};

/**
 * Waits for no row. The ledger ends sessions, many in one statement and in any order: each would
 * wait for rows that the other has, until the server gives one of them up a second later, with all
 * wallets of the shard behind it.
 * Not `state = 'live'`: for that the planner may read the index of all live ones.
 */
const checkpointText = `
WITH given AS (
  SELECT * FROM unnest(${checkpointTypes.join(', ')})
    AS r (${checkpointColumns.map(([name]) => name).join(', ')})),
free AS MATERIALIZED (
  SELECT r.* FROM given r JOIN voice_sessions s ON ${lookedUp('s.id', 'r.id')}
  WHERE s.state <> 'ended' FOR NO KEY UPDATE OF s SKIP LOCKED),
written AS (
  UPDATE voice_sessions s SET ${checkpointSet}
  FROM free r WHERE ${lookedUp('s.id', 'r.id')} RETURNING s.id)
SELECT s.id, s.id IN (SELECT id FROM written) AS written
FROM given r JOIN voice_sessions s ON ${lookedUp('s.id', 'r.id')} WHERE s.state <> 'ended'`;

/**
 * Writes the usage of many sessions in one statement. Returns those that have not ended, and if it
 * was written: what somebody else is writing at this moment is to be tried again. Repeating it is
 * harmless.
 */
export async function checkpointSessions(
  sql: Queryable,
  checkpoints: readonly SessionCheckpoint[],
): Promise<Map<string, boolean>> {
  if (checkpoints.length === 0) return new Map();
  const parameters = checkpointColumns.map(([, , cellOf]) => columnLiteral(checkpoints, cellOf));
  const rows = await sql.unsafe<{ id: string; written: boolean }[]>(checkpointText, parameters, {
    prepare: true,
  });
  return new Map(rows.map(({ id, written }) => [id, written]));
}
