// What keys and members may spend of a wallet, and what they spent and hold of it. It is read with
// the wallet, and moved by its own writes.
import { lookedUp } from '../driver/lookup.ts';
import type { Queryable } from '../driver/sql.ts';
import type { OrganizationStatus } from '../organizations/role.ts';
import type { SpendPeriod } from './period.ts';

/** A member that may spend. */
export interface MemberFacts {
  /** The own cap; null: the default. */
  capMicros: bigint | null;
  /** Owners and administrators have no default. */
  isExempt: boolean;
}

/** The organization that a wallet is of, and what bounds whoever spends of it. */
export interface OrganizationFacts {
  /** Its own account: that of its keys. */
  accountId: string;
  status: OrganizationStatus;
  capMicros: bigint | null;
  defaultCapMicros: bigint | null;
  /** Members by their accounts. Who is removed, or may not act, is not among them. */
  members: ReadonlyMap<string, MemberFacts>;
}

/** What bounds a spender. Null: it is counted, and has no bound. */
export interface CapRow {
  spender: string;
  period: SpendPeriod;
  capMicros: bigint | null;
}

/** The counter of one spender and period. */
export interface SpendRow {
  spender: string;
  period: SpendPeriod;
  startsMs: number;
  endsMs: number | null;
  spentMicros: bigint;
  heldMicros: bigint;
}

export interface CounterRows {
  caps: CapRow[];
  spend: SpendRow[];
  /** For whom active holds are. */
  spenders: ReadonlyMap<string, Spender>;
  /** Counters of periods that ended before this, and hold nothing, are not among them. */
  readFromMs: number;
  /** Null or left out: the wallet is a person's. */
  organization?: OrganizationFacts | null;
}

/** Who spends: an account, and the key that it uses, if any. */
export interface Spender {
  accountId: string;
  apiKeyId: string | null;
}

type RawOrganization = {
  account: string;
  status: OrganizationStatus;
  cap: string | null;
  default_cap: string | null;
  members: [account: string, cap: string | null, isExempt: boolean][];
};

type RawCounters = {
  caps: [spender: string, period: SpendPeriod, cap: string][];
  spend: [string, SpendPeriod, number, number | null, spent: string, held: string][];
  read_from_ms: number;
  organization: RawOrganization | null;
};

export type { RawCounters };

/** Nothing is settled so long after its period: what is, is not taken of who has a cap. */
const lateDays = 2;
/** Revoked keys whose caps are read: nobody makes a wallet large by making keys. */
const revokedMax = 500;
const millis = (column: string) => `(extract(epoch FROM ${column}) * 1000)::bigint`;
const recent = (column: string) => `${column} > now() - interval '${lateDays} days'`;

const settingText = (name: string) => `o.settings ->> '${name}'`;

/** The organization of the wallet `w`, with whoever may spend of it, or NULL. */
const organizationText = `(SELECT json_build_object('account', o.account_id, 'status', o.status,
      'cap', ${settingText('monthly_spend_limit_micros')},
      'default_cap', ${settingText('default_member_spend_limit_micros')},
      'members', (SELECT coalesce(json_agg(json_build_array(m.account_id, m.cap_micros::text,
          m.role IN ('owner', 'admin'))), '[]')
        FROM organization_members m JOIN accounts p ON ${lookedUp('p.id', 'm.user_id')}
        WHERE ${lookedUp('m.organization_id', 'o.id')} AND m.ended_at IS NULL
          AND p.disabled_at IS NULL AND p.deleting_at IS NULL))
    FROM organizations o WHERE o.wallet_id = w.id AND w.type = 'organization')`;

/** In a statement where the wallet is `w`: its caps and counters as one document, or NULL. */
export const countersText = `CASE WHEN w.counts THEN json_build_object(
    'read_from_ms', ${millis(`(now() - interval '${lateDays} days')`)},
    'caps', (SELECT coalesce(json_agg(json_build_array(k.id, k.limit_period,
        k.limit_micros::text)), '[]')
      FROM (SELECT id, limit_period, limit_micros FROM api_keys
        WHERE wallet_id = w.id AND limit_micros IS NOT NULL AND revoked_at IS NULL
        UNION ALL (SELECT id, limit_period, limit_micros FROM api_keys
          WHERE wallet_id = w.id AND limit_micros IS NOT NULL AND ${recent('revoked_at')}
          ORDER BY revoked_at DESC LIMIT ${revokedMax})) k),
    'spend', (SELECT coalesce(json_agg(json_build_array(s.spender, s.period,
        ${millis('s.starts_at')},
        CASE WHEN isfinite(s.ends_at) THEN ${millis('s.ends_at')} END,
        s.spent_micros::text, s.held_micros::text)), '[]')
      FROM spend s WHERE s.wallet_id = w.id
        AND (s.held_micros > 0 OR ${recent('s.ends_at')})),
    'organization', ${organizationText}) END`;

export function readCounters(raw: RawCounters): CounterRows {
  return {
    caps: raw.caps.map(([spender, period, cap]) => ({ spender, period, capMicros: BigInt(cap) })),
    spend: raw.spend.map(([spender, period, startsMs, endsMs, spent, held]) => ({
      spender,
      period,
      startsMs,
      endsMs,
      spentMicros: BigInt(spent),
      heldMicros: BigInt(held),
    })),
    spenders: new Map(),
    readFromMs: raw.read_from_ms,
    organization: raw.organization === null ? null : readOrganization(raw.organization),
  };
}

const bigintOrNull = (text: string | null) => (text === null ? null : BigInt(text));

function readOrganization(raw: RawOrganization): OrganizationFacts {
  return {
    accountId: raw.account,
    status: raw.status,
    capMicros: bigintOrNull(raw.cap),
    defaultCapMicros: bigintOrNull(raw.default_cap),
    members: new Map(
      raw.members.map(([account, cap, isExempt]) => [
        account,
        { capMicros: bigintOrNull(cap), isExempt },
      ]),
    ),
  };
}

/** So long after its period nobody asks for a counter. */
export const sweptAfterDays = 40;

/** Forgets counters of periods that ended long ago; returns how many. */
export async function sweepSpend(sql: Queryable, limit: number): Promise<number> {
  const result = await sql`
    DELETE FROM spend WHERE ctid IN (
      SELECT s.ctid FROM spend s
      WHERE s.ends_at < now() - ${sweptAfterDays} * interval '1 day' AND s.held_micros = 0
      ORDER BY s.ends_at LIMIT ${limit})`;
  return result.count;
}
