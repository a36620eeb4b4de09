// Hold-and-settle pairs of an organization's wallet, which counts all and each member, beside those
// of a personal wallet, which counts nothing. Caps are there and never met.
import type { Sql } from '../../../db/driver/sql.ts';
import { newId } from '../../../runtime/ids.ts';
import { accountId, type BenchSpender, measurePairs, openGround, report } from '../../wallet.ts';
import { type Bench, figureOf } from '../bench.ts';

const callers = 64;
const seconds = 4;
const cap = 9_000_000_000_000_000;

const personal = 'a personal wallet';
const alone = 'an organization, one member';
const crowd = 'an organization, 64 members';

/** Makes the wallet an organization's, with members under its default cap. */
async function makeCompany(
  sql: Sql,
  walletId: string,
  memberCount: number,
): Promise<BenchSpender[]> {
  const [row] = await sql<{ id: number }[]>`
    SELECT coalesce(max(id), 99999) + 1 AS id FROM organizations`;
  const id = row?.id ?? 0;
  const own = newId('acc', 1);
  const settings = JSON.stringify({
    monthly_spend_limit_micros: cap,
    default_member_spend_limit_micros: cap,
  });
  const people = Array.from({ length: memberCount }, () => newId('acc', 1));
  const members = Array.from({ length: memberCount }, () => newId('acc', 1));
  await sql.begin(async (transaction) => {
    await transaction`
      INSERT INTO accounts (id, kind, organization_id) VALUES (${own}, 'organization', ${id})`;
    await transaction`
      UPDATE wallets SET type = 'organization', counts = true, account_id = ${own}
      WHERE id = ${walletId}`;
    await transaction`
      INSERT INTO organizations (id, account_id, wallet_id, name, owner_user_id, seat_limit,
        settings)
      VALUES (${id}, ${own}, ${walletId}, 'Bench', ${accountId}, 100, ${settings}::text::jsonb)`;
    await transaction`INSERT INTO accounts (id) SELECT unnest(${people}::text[])`;
    await transaction`
      INSERT INTO accounts (id, kind, person_id, organization_id)
      SELECT member, 'member', person, ${id}
      FROM unnest(${members}::text[], ${people}::text[]) AS t (member, person)`;
    await transaction`
      INSERT INTO organization_members (organization_id, user_id, account_id, role)
      SELECT ${id}, person, member, 'member'
      FROM unnest(${members}::text[], ${people}::text[]) AS t (member, person)`;
  });
  return members.map((member) => ({ accountId: member, apiKeyId: null }));
}

export const organizationsPairs: Bench = {
  name: 'organizations-pairs',
  async run(options) {
    const ground = await openGround();
    try {
      const contenders = [
        { name: personal, members: 0 },
        { name: alone, members: 1 },
        { name: crowd, members: 64 },
      ];
      const length = { runs: options.runs, callers, seconds: options.seconds ?? seconds };
      const figures = await measurePairs(ground, contenders, length, async (each, walletId) =>
        each.members === 0 ? undefined : makeCompany(ground.sql, walletId, each.members),
      );
      const pairs = (name: string) => figureOf(figures, name, 'pairs');
      const bar = (name: string, limit: number) => ({
        text: `pairs a second, ${name}`,
        limit,
        measured: pairs(name) / pairs(personal),
        unit: '×',
        sense: 'least' as const,
      });
      return report(figures, {
        name: 'organizations-pairs',
        title: "Hold-and-settle pairs of an organization's wallet, beside a personal one",
        method:
          `Durable (fsync on), with generations, ${callers} callers in a closed loop, members in ` +
          'turn under caps; PostgreSQL beside it on the same cores.',
        bars: [bar(alone, 0.85), bar(crowd, 0.65)],
      });
    } finally {
      await ground.stop();
    }
  },
};
