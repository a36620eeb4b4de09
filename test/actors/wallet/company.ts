// Organizations on a bank, as rows: the account and the wallet, its members, and what changes them.
// Each change fences the wallet in its transaction, as the product does.
import { randomInt } from 'node:crypto';
import { tokenHash } from '../../../actors/credentials/token.ts';
import { createDirectWallet } from '../../../actors/wallet/direct.ts';
import { walletLimits } from '../../../actors/wallet/limits.ts';
import type { HoldRequest } from '../../../actors/wallet/protocol.ts';
import type { Transaction } from '../../../db/driver/sql.ts';
import { createKey } from '../../../db/keys.ts';
import { fenceWallet } from '../../../db/organizations/fence.ts';
import type { OrganizationRole } from '../../../db/organizations/role.ts';
import { type SpendLimit, setSpendLimit } from '../../../db/spend/limit.ts';
import { createWallet } from '../../../db/wallets.ts';
import { type Bank, freshId, purchase } from './bank.ts';
import { idAt, keyHold } from './limited-keys.ts';

export interface Company {
  id: number;
  /** Its own account, which its keys are for. */
  accountId: string;
  walletId: string;
  /** Accounts of the memberships, in the order of `members`. */
  members: string[];
}

export interface MemberTerms {
  role?: OrganizationRole;
  cap?: number | null;
}

const silent = { warn: () => {}, error: () => {} };

interface Terms {
  members?: readonly MemberTerms[];
  cap?: number | null;
  defaultCap?: number | null;
  funds?: bigint;
}

export async function newCompany(bank: Pick<Bank, 'sql'>, terms: Terms = {}): Promise<Company> {
  const { members = [{}], cap = null, defaultCap = null, funds = 1_000_000_000n } = terms;
  const id = randomInt(100_000, 2 ** 31);
  const [accountId, walletId] = [freshId('acc'), freshId('wal')];
  const accounts = members.map(() => freshId('acc'));
  await bank.sql.begin(async (sql) => {
    await sql`INSERT INTO accounts (id, role, kind, organization_id)
      VALUES (${accountId}, 'user', 'organization', ${id})`;
    await createWallet(sql, { id: walletId, accountId, type: 'organization' });
    await sql`INSERT INTO organizations (id, account_id, wallet_id, name, seat_limit)
      VALUES (${id}, ${accountId}, ${walletId}, 'Example', 1000)`;
    for (const [index, { role = 'member', cap: own = null }] of members.entries()) {
      const person = freshId('acc');
      const account = accounts[index] ?? '';
      await sql`INSERT INTO accounts (id, role) VALUES (${person}, 'user')`;
      await sql`INSERT INTO accounts (id, role, kind, person_id, organization_id)
        VALUES (${account}, 'user', 'member', ${person}, ${id})`;
      await sql`INSERT INTO organization_members
          (organization_id, user_id, account_id, role, cap_micros)
        VALUES (${id}, ${person}, ${account}, ${role}, ${own})`;
    }
  });
  const company = { id, accountId, walletId, members: accounts };
  await changeSettings(bank, company, { cap, defaultCap });
  const direct = { sql: bank.sql, clock: Date.now, limits: walletLimits, log: silent };
  if (funds > 0n) await createDirectWallet(direct)(walletId, 'grant', purchase(funds));
  return company;
}

/** Whatever changes what may be spent: in one transaction with a new version of the wallet. */
export async function change<T>(
  bank: Pick<Bank, 'sql'>,
  { walletId }: Company,
  run: (sql: Transaction) => Promise<T>,
): Promise<T> {
  return (await bank.sql.begin(async (sql) => {
    await fenceWallet(sql, walletId);
    return run(sql);
  })) as T;
}

export async function changeSettings(
  bank: Pick<Bank, 'sql'>,
  company: Company,
  { cap, defaultCap }: { cap?: number | null; defaultCap?: number | null },
): Promise<void> {
  const changed = {
    ...(cap === undefined ? {} : { monthly_spend_limit_micros: cap }),
    ...(defaultCap === undefined ? {} : { default_member_spend_limit_micros: defaultCap }),
  };
  await change(bank, company, async (sql) => {
    const text = JSON.stringify(changed);
    await sql`UPDATE organizations SET settings = settings || ${text}::text::jsonb
      WHERE id = ${company.id}`;
  });
}

export async function setStatus(
  bank: Pick<Bank, 'sql'>,
  company: Company,
  status: 'active' | 'suspended' | 'closed',
): Promise<void> {
  await change(bank, company, async (sql) => {
    await sql`UPDATE organizations SET status = ${status},
        suspended_by = ${status === 'suspended' ? 'owner' : null},
        closed_at = CASE WHEN ${status} = 'closed' THEN now() END
      WHERE id = ${company.id}`;
  });
}

/** A key of this account that pays with the wallet of the organization. */
export async function companyKey(
  bank: Pick<Bank, 'sql'>,
  { walletId }: Company,
  accountId: string,
  limit: SpendLimit | null = null,
): Promise<string> {
  const id = idAt('key', Date.now());
  const key = { id, accountId, walletId, spendLimit: null };
  await createKey(bank.sql, {
    ...key,
    label: 'of a company',
    environment: 'test',
    scopes: ['models:generate'],
    prefix: id.slice(-8),
    tokenHash: tokenHash(id),
    requestsPerMinute: 600,
    concurrencyMax: 64,
  });
  if (limit === null) return id;
  await bank.sql.begin((sql) => setSpendLimit(sql, key, limit, Date.now()));
  return id;
}

/** A hold of this account, with its generation; `keyId` null: without a key. */
export function holdBy(
  accountId: string,
  amount: number | bigint,
  keyId: string | null = null,
  atMs = Date.now(),
): HoldRequest {
  const hold = keyHold('', amount, atMs);
  if (hold.claim !== null) Object.assign(hold.claim, { accountId, apiKeyId: keyId });
  return hold;
}
