// GET /api/me/rewards/referral: the account's code, what it brings, and what came of it.
import * as v from 'valibot';
import { findPerson } from '../../db/accounts/person.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { readReferralCounts } from '../../db/promotions/referrals.ts';
import { Problem } from '../../runtime/problem.ts';
import { exact, micros } from '../billing/micros.ts';
import { defineRoute } from '../define.ts';
import { noStore } from './schema.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const replySchema = v.strictObject({
  ok: v.literal(true),
  code: v.string(),
  url: v.string(),
  terms: v.nullable(
    v.strictObject({
      referee_credits: count,
      referrer_credits: count,
      min_purchase_credits: count,
      hold_days: count,
      per_referrer_max: count,
      credits_days: v.nullable(count),
    }),
  ),
  counts: v.strictObject({
    signed_up: count,
    bought: count,
    waiting: count,
    granted: count,
  }),
  earned: v.strictObject({ microcredits: micros, exact }),
});

export const getReferral = defineRoute({
  method: 'GET',
  path: '/api/me/rewards/referral',
  operationId: 'getReferral',
  summary: 'Read your referral code',
  description:
    'Whoever signs up with `code` and pays for a purchase of at least `min_purchase_credits` ' +
    'gets `referee_credits` at once; you get `referrer_credits` after `hold_days`, unless the ' +
    'purchase is reversed, `per_referrer_max` times at most. Nothing is given for a purchase ' +
    'with a card or an account that you have paid with. `terms` null: nothing is given now.',
  tag: 'Rewards',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  replies: {
    200: { description: 'The code, its terms, and what came of it.', schema: replySchema },
  },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ caller, services }) {
    const { sql, config, catalog } = services;
    const { accountId } = caller;
    const [person, counts] = await withDeadline(
      Promise.all([findPerson(sql, accountId), readReferralCounts(sql, accountId)]),
    );
    if (person === null) throw new Problem('not_found');
    const { referral } = catalog.current().snapshot.billing;
    const json = {
      ok: true,
      code: person.referralCode,
      url: `${config.webUrl}/signup?referral_code=${person.referralCode}`,
      terms:
        referral === null ? null : { ...referral, credits_days: referral.credits_days ?? null },
      counts: {
        signed_up: counts.signedUp,
        bought: counts.bought,
        waiting: counts.waiting,
        granted: counts.granted,
      },
      earned: { microcredits: Number(counts.earnedMicros), exact: String(counts.earnedMicros) },
    };
    return { status: 200, headers: noStore, json };
  },
});
