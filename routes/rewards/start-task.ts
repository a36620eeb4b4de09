// POST /api/me/rewards/start: begins a task. An account has one submission of a task, for ever.
import * as v from 'valibot';
import { asksForCode, newChallengeCode } from '../../actors/reward/challenge.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { createSubmission, findSubmissionsByTask } from '../../db/rewards/submissions.ts';
import { lineOfText } from '../../runtime/http/text.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
import { requireEligible } from './eligible.ts';
import { noStore, submissionBody, submissionSchema } from './schema.ts';

const microsPerCredit = 1_000_000n;
const schema = v.strictObject({ ok: v.literal(true), submission: submissionSchema });

export const startTask = defineRoute({
  method: 'POST',
  path: '/api/me/rewards/start',
  operationId: 'startReward',
  summary: 'Begin a task',
  description:
    'The submission has a `challenge_code` where the task asks for one: it has to stand in the ' +
    'visible text of the content. What was begun is answered as it is, with 200. For verified, ' +
    'unrestricted accounts: else 403 with the reason `unverified` or `billing_restricted`.',
  tag: 'Rewards',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { task_key: 'write-about-it' },
    schema: v.strictObject({ task_key: lineOfText(80) }),
  },
  replies: {
    200: { description: 'It was begun before.', schema },
    201: { description: 'The new submission.', schema },
  },
  problems: ['forbidden', 'not_found', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    const { sql, catalog } = services;
    const { accountId, walletId } = caller;
    const { task_key: key } = body;
    const find = async () => (await withDeadline(findSubmissionsByTask(sql, accountId))).get(key);
    const begun = await find();
    if (begun !== undefined) return answer(200, submissionBody(begun));
    const task = catalog.current().snapshot.rewardTasks.find(({ name }) => name === key);
    if (task?.enabled !== true) throw new Problem('not_found', { param: 'task_key' });
    await requireEligible(services, accountId);
    const made = await withDeadline(
      createSubmission(sql, {
        accountId,
        walletId,
        task: key,
        title: task.title,
        method: task.verification_method,
        targetUrl: task.target_url ?? null,
        micros: BigInt(task.credits) * microsPerCredit,
        creditsDays: task.credits_days ?? null,
        challengeCode: asksForCode(task) ? newChallengeCode() : null,
      }),
    );
    if (made !== null) return answer(201, submissionBody(made));
    // Begun at the same moment.
    const other = await find();
    if (other === undefined) throw new Problem('dependency_unavailable');
    return answer(200, submissionBody(other));
  },
});

function answer(status: 200 | 201, submission: v.InferOutput<typeof submissionSchema>) {
  return { status, headers: noStore, json: { ok: true, submission } };
}
