// Rows of voice sessions: how the ledger's statement makes and ends them, and the checkpoints of
// their usage in between. A checkpoint that comes after the end changes nothing.
import { arrayLiteral } from './array.ts';
import type { Part } from './ledger.ts';
import { lookedUp, ownedRow } from './lookup.ts';
import type { Queryable } from './sql.ts';

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

const usageColumns = [
  'input_speech_tokens',
  'input_text_tokens',
  'output_speech_tokens',
  'output_text_tokens',
  'search_calls',
];

function usageValues(usage: SessionUsage | null): (number | null)[] {
  return [
    usage?.inputSpeechTokens ?? null,
    usage?.inputTextTokens ?? null,
    usage?.outputSpeechTokens ?? null,
    usage?.outputTextTokens ?? null,
    usage?.searchCalls ?? null,
  ];
}

/** The parts of the ledger's statement that make and end sessions. */
export const sessionParts: readonly Part[] = [
  {
    name: 'session_claims',
    columns: [
      ['id', 'text'],
      ['account_id', 'text'],
      ['api_key_id', 'text'],
      ['model', 'text'],
      ['voice_id', 'text'],
      ['instance_id', 'text'],
      ['hold_id', 'text'],
    ],
    text: (rows) => `INSERT INTO voice_sessions (id, account_id, wallet_id, api_key_id, model,
        voice_id, instance_id, hold_id)
      SELECT r.id, r.account_id, r.wallet_id, r.api_key_id, r.model, r.voice_id, r.instance_id,
        r.hold_id FROM ${rows}`,
    rows: (write) =>
      write.sessionClaims.map((claim) => [
        claim.id,
        claim.accountId,
        claim.apiKeyId,
        claim.model,
        claim.voiceId,
        claim.instanceId,
        claim.holdId,
      ]),
  },
  {
    name: 'session_finishes',
    columns: [
      ['id', 'text'],
      ['reason', 'text'],
      ['source', 'text'],
      ...usageColumns.map((name): [string, string] => [name, 'bigint']),
      ['charge_micros', 'bigint'],
      ['late', 'boolean'],
    ],
    text: (rows) => `UPDATE voice_sessions s SET state = 'ended', reason = r.reason,
        source = r.source, charge_micros = r.charge_micros,
        ${usageColumns.map((name) => `${name} = coalesce(r.${name}, s.${name})`).join(', ')},
        ended_at = coalesce(s.ended_at, now())
      FROM ${rows} WHERE ${ownedRow('s')} AND (s.state = 'live'
        OR (r.late AND s.charge_micros IS NULL))`,
    rows: (write) =>
      write.sessionFinishes.map((finish) => [
        finish.id,
        finish.reason,
        finish.source,
        ...usageValues(finish.usage),
        finish.chargeMicros,
        finish.late,
      ]),
  },
];

/** What a live session has used so far, and what that costs. */
export interface SessionCheckpoint {
  id: string;
  usage: SessionUsage;
  dueMicros: bigint;
  dueProviderMicros: bigint;
}

/** Not `state = 'live'`: for that the planner may read the index of all live ones. */
const checkpointText = `
UPDATE voice_sessions s SET ${usageColumns.map((name) => `${name} = r.${name}`).join(', ')},
  due_micros = r.due_micros, due_provider_micros = r.due_provider_micros
FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
  $7::bigint[], $8::bigint[])
  AS r (id, ${usageColumns.join(', ')}, due_micros, due_provider_micros)
WHERE ${lookedUp('s.id', 'r.id')} AND s.state <> 'ended'`;

/** Writes the usage of many sessions in one statement. Repeating it is harmless. */
export async function checkpointSessions(
  sql: Queryable,
  checkpoints: readonly SessionCheckpoint[],
): Promise<void> {
  if (checkpoints.length === 0) return;
  const columns = [
    checkpoints.map(({ id }) => id),
    ...usageColumns.map((_, index) => checkpoints.map(({ usage }) => usageValues(usage)[index])),
    checkpoints.map(({ dueMicros }) => dueMicros),
    checkpoints.map(({ dueProviderMicros }) => dueProviderMicros),
  ];
  const parameters = columns.map((column) => arrayLiteral(column));
  await sql.unsafe(checkpointText, parameters, { prepare: true });
}
