// POST /api/me/rewards/evidence: where the content is. It is judged, or waits for an administrator.
import * as v from 'valibot';
import { withDeadline } from '../../db/driver/sql.ts';
import { type EvidenceTaken, takeEvidence } from '../../db/rewards/submissions.ts';
import { maxCharacters } from '../../runtime/http/text.ts';
import { fieldProblem } from '../../runtime/http/validate.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
import { requireEligible, requireTry } from './eligible.ts';
import { noStore, submissionBody, submissionSchema } from './schema.ts';

const urlLengthMax = 2_048;

export const submitEvidence = defineRoute({
  method: 'POST',
  path: '/api/me/rewards/evidence',
  operationId: 'submitRewardEvidence',
  summary: 'Hand evidence in',
  description:
    'The page is fetched over https, 512 KiB at most. Code judges it first, and what it finds ' +
    'wrong rejects it: `verification_checks` name it. Then a model answers questions about it; ' +
    'no model rejects. A rejected submission takes evidence again, 3 in all; in any other state ' +
    'it is 409 `invalid_state`. An account hands in 10 an hour.',
  tag: 'Rewards',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: {
      submission_id: '0b0e0f2a-6f0c-4a1e-9d55-0f4f0a5b6c7d',
      evidence_url: 'https://blog.example.com/how-i-use-it',
    },
    schema: v.strictObject({
      submission_id: v.pipe(v.string(), v.uuid('expected a UUID')),
      evidence_url: v.pipe(v.string(), v.maxLength(urlLengthMax), v.url()),
      evidence_notes: v.optional(v.pipe(v.string(), maxCharacters(1_000))),
    }),
  },
  replies: {
    200: {
      description: 'The submission, which is judged now or waits for an administrator.',
      schema: v.strictObject({ ok: v.literal(true), submission: submissionSchema }),
    },
  },
  problems: ['forbidden', 'not_found', 'invalid_state', 'rate_limited', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    const { sql, limits, reward } = services;
    const { accountId } = caller;
    const { submission_id: submissionId, evidence_url: url, evidence_notes: notes } = body;
    if (!/^https?:$/.test(new URL(url).protocol)) {
      throw fieldProblem('evidence_url', 'Evidence is a page of the web.');
    }
    await requireEligible(services, accountId);
    await requireTry(services, accountId, 'evidence');
    const evidence = { submissionId, accountId, url, notes: notes ?? null };
    const taken = await withDeadline(takeEvidence(sql, evidence, limits.reward.evidencesMax));
    const { submission, epoch } = requireTaken(taken);
    if (submission.state === 'verifying') reward.enqueue({ id: submission.id, epoch });
    const json = { ok: true, submission: submissionBody(submission) };
    return { status: 200, headers: noStore, json };
  },
});

function requireTaken(taken: EvidenceTaken): EvidenceTaken & { status: 'taken' } {
  switch (taken.status) {
    case 'taken':
      return taken;
    case 'not_found':
      throw new Problem('not_found', { param: 'submission_id' });
    case 'wrong_state':
      throw new Problem('invalid_state', {
        message: `The submission is ${taken.state}: it takes no evidence.`,
        details: { state: taken.state },
      });
    case 'used_up':
      throw new Problem('invalid_state', {
        message: 'As many evidences were handed in as a submission takes.',
        details: { reason: 'evidences_used' },
      });
  }
}
