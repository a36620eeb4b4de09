// Codes, rewarded tasks and the settings of billing are records of the catalog. Shown are their
// faults, and that a file and administrators change them as they do others.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as v from 'valibot';
import { catalogDocumentSchema } from '../../../actors/catalog/document.ts';
import { documentFaults, faultLine } from '../../../actors/catalog/faults.ts';
import { type CatalogStage, type Members, openCatalogStage } from './stage.ts';

let stage: CatalogStage;
before(async () => {
  stage = await openCatalogStage();
});
after(() => stage?.close());

const promotion = (name: string, more: Members = {}) => ({
  name,
  credits: 100,
  redemptions_max: 10,
  ...more,
});
const task = (name: string, more: Members = {}) => ({
  name,
  title: 'Write about it',
  credits: 500,
  verification_method: 'public_content_ai',
  hosts: ['*.example.com'],
  questions: [{ text: 'Does the page tell of "Tollgate"?' }],
  terms: ['tollgate'],
  ...more,
});
const patch = (members: Members) => ({ verb: 'update', patch: members }) as const;

function linesOf(document: Members): string[] {
  return documentFaults(v.parse(catalogDocumentSchema, document)).map(faultLine);
}

test('a record that contradicts itself or another is a fault with its path', () => {
  assert.deepEqual(linesOf({ promotions: [promotion('a')], reward_tasks: [task('t')] }), []);
  const codes = [promotion('welcome'), promotion('b', { code: 'WELCOME' })];
  assert.deepEqual(linesOf({ promotions: codes }), [
    'promotions[0].name: "welcome" is the code of another one, too',
    'promotions[1].code: "welcome" is the code of another one, too',
  ]);
  const moments = { starts_at: '2026-02-01T00:00:00Z', ends_at: '2026-01-01T00:00:00Z' };
  assert.deepEqual(linesOf({ promotions: [promotion('a', moments)] }), [
    'promotions[0].ends_at: it is not behind starts_at',
  ]);
  assert.deepEqual(linesOf({ reward_tasks: [task('t', { questions: [] })] }), [
    'reward_tasks[0].questions: it needs at least one',
  ]);
  assert.deepEqual(linesOf({ reward_tasks: [task('t', { terms: [] })] }), [
    'reward_tasks[0].questions[0].terms: neither it nor the task has terms',
  ]);
  const followed = task('f', { verification_method: 'social_follow_review', questions: [] });
  assert.deepEqual(linesOf({ reward_tasks: [followed] }), []);
  const rewards = { model: 'nothing', auto_credits_per_day: 1 };
  assert.deepEqual(linesOf({ billing: [{ rewards }] }), [
    'billing.rewards.model: there is no generation model "nothing"',
  ]);
});

test('without a file the settings are those of the migration, and nothing is given', async () => {
  assert.deepEqual(await stage.start(null), ['= nothing to change']);
  assert.deepEqual(await stage.stored('billing', 'settings'), {
    name: 'settings',
    seller: null,
    referral: null,
    rewards: null,
  });
});

test('a file declares them, and what an administrator changes stands', async () => {
  const referral = { referee_credits: 5, referrer_credits: 10, min_purchase_credits: 100 };
  const file = {
    promotions: [promotion('spring')],
    reward_tasks: [task('post')],
    billing: { referral },
  };
  assert.deepEqual(await stage.start(file), [
    '+ promotion spring',
    '+ reward_task post',
    '~ billing settings: referral',
  ]);
  const whole = { ...referral, hold_days: 7, per_referrer_max: 50 };
  assert.deepEqual((await stage.stored('billing', 'settings'))?.referral, whole);
  await stage.change('promotions', 'spring', { verb: 'disable' });
  await stage.change('billing', 'settings', patch({ referral: null }));
  assert.deepEqual(stage.served().billing.referral, null);
  const [idle] = await stage.start(file);
  assert.equal(idle, '= nothing to change');
  assert.equal((await stage.stored('promotions', 'spring'))?.enabled, false);
  for (const name of ['other', 'z-other']) {
    const definition = promotion(name, { code: 'Spring' });
    const refused = await stage.change('promotions', name, { verb: 'create', definition });
    assert.deepEqual(refused, {
      status: 'invalid',
      path: 'code',
      message: '"spring" is the code of another one, too',
    });
  }
});
