// Codes, rewarded tasks and the settings of billing as resources.
import {
  billingSchema,
  promotionSchema,
  rewardTaskSchema,
} from '../../../actors/catalog/document.ts';
import { type Resource, resource } from './resource.ts';

export const promotions: Resource = {
  ...resource(
    'promotions',
    'Promotion',
    promotionSchema.entries,
    {},
    'A promotion is a code that gives credits, to `redemptions_max` accounts, to each once. ' +
      '`code` is compared in any case of letters; without it the name is the code. Accounts that ' +
      'had it are remembered by the name, also after it is deleted. `credits_days`: how long the ' +
      'credits can be spent.',
  ),
  switching: 'A disabled code is unknown to whoever redeems it. What was claimed is granted.',
};

export const rewardTasks: Resource = {
  ...resource(
    'reward_tasks',
    'RewardTask',
    rewardTaskSchema.entries,
    {},
    'A task that people are rewarded for; its name is the `task_key`. An administrator looks at ' +
      '`social_follow_review`. Of `public_content_ai` code judges the page: `hosts` (none: all), ' +
      'ownership by a code in its visible text (`challenge`), one submission a page. Then the ' +
      'model of the settings of billing answers `questions`. A yes counts with a quote that is ' +
      'in the page and has one of `terms` in it.',
  ),
  noun: 'a rewarded task',
  plural: 'rewarded tasks',
  path: '/api/admin/reward-tasks',
  switching: 'Nobody begins a disabled task; what was begun goes on.',
};

/** One record with routes of its own. */
export const billingResource: Resource = {
  ...resource(
    'billing',
    'Billing',
    billingSchema.entries,
    {},
    '`seller`: who sells, as invoices name it; null: nothing is invoiced. `referral`: what both ' +
      'sides get for the first purchase of at least `min_purchase_credits`; null: nothing. ' +
      '`rewards`: the `model` that looks at evidence, and how many credits a UTC day are given ' +
      'without an administrator; null: an administrator looks at all of it.',
  ),
  noun: 'the settings of billing',
};
