// What of an object is shown: lists a page at a time, and what the request asks to see expanded.
import { isMembers, type Members } from '../members.ts';
import type { StripeAccount } from './account.ts';
import { membersIn, numberIn, textIn } from './form.ts';

const pageMax = 100;
const pageUsual = 10;
const depthMax = 4;

interface Listed {
  id: string;
  created: number;
}

/** A page of objects, the newest first, as `created`, `starting_after` and `limit` ask. */
export function pageOf(objects: readonly Listed[], query: Members, url: string) {
  const created = membersIn(query, 'created');
  const from = numberIn(created, 'gte') ?? (numberIn(created, 'gt') ?? -1) + 1;
  const to = numberIn(created, 'lte') ?? Number.POSITIVE_INFINITY;
  const fitting = objects.filter((object) => object.created >= from && object.created <= to);
  const after = textIn(query, 'starting_after');
  const before = textIn(query, 'ending_before');
  const indexOf = (id: string | null) => fitting.findIndex((object) => object.id === id);
  const limit = Math.min(pageMax, numberIn(query, 'limit') ?? pageUsual);
  if (before !== null) {
    const end = Math.max(0, indexOf(before));
    const start = Math.max(0, end - limit);
    return { object: 'list', url, has_more: start > 0, data: fitting.slice(start, end) };
  }
  const start = after === null ? 0 : indexOf(after) + 1;
  const data = fitting.slice(start, start + limit);
  return { object: 'list', url, has_more: start + limit < fitting.length, data };
}

/** A copy with the members expanded that `expand` names, such as `payment_intent.latest_charge`. */
export function expanded(account: StripeAccount, value: object, asked: Members): unknown {
  const paths = Array.isArray(asked.expand) ? asked.expand.map(String) : [];
  const copy: Members = structuredClone(value) as Members;
  for (const path of paths) expandPath(account, copy, path.split('.').slice(0, depthMax));
  return copy;
}

function expandPath(
  account: StripeAccount,
  target: Members,
  [head = '', ...rest]: readonly string[],
): void {
  if (head === '') return;
  if (head === 'data' && Array.isArray(target.data)) {
    for (const item of target.data) if (isMembers(item)) expandPath(account, item, rest);
    return;
  }
  if (head === 'refunds' && target.object === 'charge') {
    const refunds = account.refunds.newest().filter(({ charge }) => charge === target.id);
    target.refunds = pageOf(refunds, {}, `/v1/charges/${target.id}/refunds`);
    return;
  }
  const found = typeof target[head] === 'string' ? account.find(target[head]) : null;
  if (found !== null) target[head] = structuredClone(found);
  const inner = target[head];
  if (isMembers(inner)) expandPath(account, inner, rest);
}
