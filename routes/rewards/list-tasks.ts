// GET /api/me/rewards/tasks: what the account may be rewarded for, with what it has begun.
import * as v from 'valibot';
import { verificationMethods } from '../../actors/catalog/promotions/members.ts';
import { asksForCode } from '../../actors/reward/challenge.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { findSubmissionsByTask } from '../../db/rewards/submissions.ts';
import { defineRoute } from '../define.ts';
import { pageSchema } from '../page.ts';
import { noStore, submissionBody, submissionSchema } from './schema.ts';

const taskSchema = v.pipe(
  v.strictObject({
    task_key: v.string(),
    title: v.string(),
    description: v.string(),
    credits: v.pipe(v.number(), v.integer()),
    verification_method: v.picklist(verificationMethods),
    target_url: v.nullable(v.string()),
    hosts: v.pipe(v.array(v.string()), v.description('Where the content may be; none: anywhere.')),
    asks_for_code: v.pipe(
      v.boolean(),
      v.description('Whether a code has to stand in the content: `challenge_code` once begun.'),
    ),
    submission: v.nullable(submissionSchema),
  }),
  v.title('RewardTask'),
);

export const listRewardTasks = defineRoute({
  method: 'GET',
  path: '/api/me/rewards/tasks',
  operationId: 'listRewardTasks',
  summary: 'List what you may be rewarded for',
  description: 'All of them on one page, each with the submission that the account has begun.',
  tag: 'Rewards',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  replies: { 200: { description: 'The tasks.', schema: pageSchema(taskSchema) } },
  problems: ['dependency_unavailable'],
  async handle({ caller, services }) {
    const { rewardTasks } = services.catalog.current().snapshot;
    const begun = await withDeadline(findSubmissionsByTask(services.sql, caller.accountId));
    const data = rewardTasks
      .filter(({ name, enabled }) => enabled || begun.has(name))
      .map((task) => {
        const submission = begun.get(task.name);
        return {
          task_key: task.name,
          title: task.title,
          description: task.description,
          credits: task.credits,
          verification_method: task.verification_method,
          target_url: task.target_url ?? null,
          hosts: task.hosts,
          asks_for_code: asksForCode(task),
          submission: submission === undefined ? null : submissionBody(submission),
        };
      });
    return { status: 200, headers: noStore, json: { ok: true, data, next_cursor: null } };
  },
});
