// Hold-and-settle pairs on one hot wallet, by keys with spend limits and by keys without. It is
// what counting costs, in the same run on the same server.
import { tokenHash } from '../../../actors/credentials/token.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { createKey, lockKey } from '../../../db/keys.ts';
import { setSpendLimit } from '../../../db/spend/limit.ts';
import { newId } from '../../../runtime/ids.ts';
import { accountId, measurePairs, openGround, report } from '../../wallet.ts';
import { type Bench, figureOf } from '../bench.ts';

const callers = 64;
const keyCount = 8;
const seconds = 4;
/** Never met: what is measured is that it is watched. */
const amountMicros = 9_000_000_000_000_000n;

const limited = 'keys with limits';
const free = 'keys without';

async function makeKeys(sql: Sql, walletId: string, isLimited: boolean): Promise<string[]> {
  const ids = Array.from({ length: keyCount }, () => newId('key', 1));
  for (const id of ids) {
    await createKey(sql, {
      id,
      accountId,
      walletId,
      label: 'bench',
      environment: 'test',
      scopes: [],
      prefix: id,
      tokenHash: tokenHash(id),
      requestsPerMinute: 600,
      concurrencyMax: 64,
    });
    if (!isLimited) continue;
    await sql.begin(async (transaction) => {
      const key = await lockKey(transaction, accountId, id);
      if (key === null) throw new Error('the key was made');
      await setSpendLimit(transaction, key, { amountMicros, period: 'month' }, Date.now());
    });
  }
  return ids;
}

export const customerKeyLimits: Bench = {
  name: 'customer-key-limits',
  async run(options) {
    const ground = await openGround();
    try {
      const contenders = [
        { name: limited, isLimited: true },
        { name: free, isLimited: false },
      ];
      const length = { runs: options.runs, callers, seconds: options.seconds ?? seconds };
      const figures = await measurePairs(
        ground,
        contenders,
        length,
        async ({ isLimited }, walletId) => {
          const keyIds = await makeKeys(ground.sql, walletId, isLimited);
          return keyIds.map((apiKeyId) => ({ accountId, apiKeyId }));
        },
      );
      const pairs = (name: string) => figureOf(figures, name, 'pairs');
      return report(figures, {
        name: 'customer-key-limits',
        title: 'Hold-and-settle pairs on one hot wallet, by keys with spend limits',
        method:
          `Durable (fsync on), with generations, ${callers} callers in a closed loop, ` +
          `${keyCount} keys in turn; PostgreSQL beside it on the same cores.`,
        bars: [
          {
            text: 'pairs a second with limits against without',
            limit: 0.85,
            measured: pairs(limited) / pairs(free),
            unit: '×',
            sense: 'least',
          },
        ],
      });
    } finally {
      await ground.stop();
    }
  },
};
