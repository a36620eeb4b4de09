// PUT /api/admin/social-profiles: all profiles at once. Every shard tells them when it is answered.
import * as v from 'valibot';
import {
  putSocialProfiles,
  readSocialProfiles,
  type SocialProfiles,
} from '../../../db/app/social-profiles.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { profileFault, profileInput, revisionNumber } from '../../discovery/profiles.ts';
import { adminEvent, applyBoardChange } from '../board-change.ts';
import { profilesAnswer, profilesBody, profilesPath, profilesReply } from './social-profiles.ts';

const profilesMax = 32;

interface Written {
  stale: boolean;
  /** Stale: those that stand. */
  social: SocialProfiles;
}

export const putAdminSocialProfiles = defineRoute({
  method: 'PUT',
  path: profilesPath,
  operationId: 'putAdminSocialProfiles',
  summary: 'Write the social profiles',
  description:
    'Replaces all of them; every shard has them when this is answered. If `expected_revision` is ' +
    'not the current one: 409 `conflict` with the current `revision` and `profiles` in `details`.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    halves: 'replaced',
    example: { expected_revision: 0, profiles: [] },
    schema: v.strictObject({
      expected_revision: revisionNumber,
      profiles: v.pipe(v.array(v.strictObject(profileInput)), v.maxLength(profilesMax)),
    }),
  },
  replies: profilesReply,
  problems: ['conflict', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    const { profiles, expected_revision: expected } = body;
    const fault = profileFault(profiles);
    if (fault !== null) throw fieldProblem(fault.path, fault.message);
    const result = await applyBoardChange<Written>(services, async (transaction) => {
      const before = await readSocialProfiles(transaction);
      if (before.revision !== expected) {
        return { result: { stale: true, social: before }, event: null };
      }
      const revision = await putSocialProfiles(transaction, profiles);
      const details = { before: before.profiles, after: profiles, revision };
      const { accountId } = caller;
      const subject = 'social_profiles';
      const event = adminEvent(services, accountId, 'social_profiles.update', subject, details);
      return { result: { stale: false, social: { revision, profiles } }, event };
    });
    if (result.stale) throw staleProfiles(result.social);
    return profilesAnswer(result.social);
  },
});

function staleProfiles(social: SocialProfiles): Problem {
  return new Problem('conflict', {
    message: 'Somebody else has changed the profiles. Read them again.',
    details: profilesBody(social),
  });
}
