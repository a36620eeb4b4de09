// Promotional credit: codes that were had, who brought whom, and what was handed in for rewards.
import { jsonOf, type PersonalDomain } from './contract.ts';

const books = 'it says what was given and why, and the account is an id alone';

export const promotionData: PersonalDomain = {
  file: 'promotions',
  tables: {
    code_redemptions: { hold: 'exempt', exported: true, fate: { kept: books } },
    referral_credits: { hold: 'exempt', exported: true, fate: { kept: books } },
    referrals: {
      hold: 'exempt',
      exported: 'it names another account; what came of it stands in the credits',
      fate: { kept: books },
    },
    promotion_tries: {
      hold: 'exempt',
      exported: 'it counts tries, for an hour',
      fate: { kept: 'it is forgotten within two hours' },
    },
  },
  lists: [
    {
      name: 'codes',
      from: 'code_redemptions c',
      where: 'c.account_id = $1',
      cursor: 'c.id',
      item: jsonOf('c', ['id', 'promotion', 'micros', 'credits_until', 'claimed_at', 'granted_at']),
    },
    {
      name: 'referrals',
      from: 'referral_credits c',
      where: 'c.account_id = $1',
      cursor: 'c.id',
      item: jsonOf('c', ['id', 'side', 'micros', 'due_at', 'granted_at', 'ended_at']),
    },
  ],
  erasing: [],
};

export const rewardData: PersonalDomain = {
  file: 'rewards',
  tables: {
    reward_submissions: {
      hold: 'exempt',
      exported: true,
      fate: { blanked: 'the row says what was given' },
    },
  },
  lists: [
    {
      name: 'submissions',
      from: 'reward_submissions s',
      where: 's.account_id = $1',
      cursor: 's.id::text',
      item: jsonOf('s', [
        ...['id', 'task', 'title', 'method', 'micros', 'challenge_code', 'state'],
        ...['evidence_url', 'evidence_notes', 'confidence', 'summary', 'checks', 'review_notes'],
        ...['reviewed_at', 'granted_at', 'created_at', 'updated_at'],
      ]),
    },
  ],
  erasing: [
    // The page stays: it wins once.
    `WITH page AS (
        SELECT s.id::text AS id FROM reward_submissions s
        WHERE s.account_id = $1 AND s.id::text > $2 ORDER BY s.id::text LIMIT $3),
      blanked AS (
        UPDATE reward_submissions s SET evidence_url = NULL, evidence_notes = NULL,
          review_notes = NULL
        FROM page p WHERE s.id = p.id::uuid)
      SELECT id AS cursor, NULL::text AS blob_id FROM page ORDER BY id`,
  ],
};
