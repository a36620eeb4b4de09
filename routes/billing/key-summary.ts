// What a summary tells a key of itself: its limit, what counts against it, and what is left.
import * as v from 'valibot';
import { withDeadline } from '../../db/driver/sql.ts';
import { type ApiKey, findKey } from '../../db/keys.ts';
import { spendingBody, spentSchema } from '../keys/schema.ts';
import { spendLimitSchema } from '../keys/terms.ts';
import type { AccountCaller, Services } from '../services.ts';
import { exact, micros } from './micros.ts';

export const keySummaryEntries = {
  api_key: v.optional(
    v.pipe(
      v.strictObject({
        id: v.string(),
        label: v.string(),
        spend_limit: v.nullable(spendLimitSchema),
        spent: v.nullable(spentSchema),
        left: v.nullable(v.strictObject({ microcredits: micros, exact })),
      }),
      v.description(
        'Of the key that asks. `left`: its limit without what is spent and held; null: no limit.',
      ),
    ),
  ),
};

/** Nothing for a person. */
export async function keySummary(
  { sql }: Pick<Services, 'sql'>,
  caller: AccountCaller,
): Promise<Record<string, unknown>> {
  const key =
    caller.kind === 'key' ? await withDeadline(findKey(sql, caller.accountId, caller.keyId)) : null;
  if (key === null) return {};
  const { id, label } = key;
  return { api_key: { id, label, ...spendingBody(key), left: leftBody(key) } };
}

function leftBody({ spendLimit, spent }: ApiKey) {
  if (spendLimit === null || spent === null) return null;
  const left = spendLimit.amountMicros - spent.spentMicros - spent.heldMicros;
  const leftMicros = left > 0n ? left : 0n;
  return { microcredits: Number(leftMicros), exact: leftMicros.toString() };
}
