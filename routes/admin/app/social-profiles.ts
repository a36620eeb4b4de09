// The social profiles as administrators see them: all of them, as one document with a revision.
import * as v from 'valibot';
import type { SocialProfiles } from '../../../db/app/social-profiles.ts';
import type { Reply } from '../../../runtime/http/route.ts';
import {
  profileBody,
  profileSchema,
  profilesOf,
  revisionNumber,
} from '../../discovery/profiles.ts';

export const profilesPath = '/api/admin/social-profiles';

export const profilesReply = {
  200: {
    description: 'The profiles.',
    schema: v.strictObject({
      ok: v.literal(true),
      revision: revisionNumber,
      profiles: v.array(profileSchema),
    }),
  },
};

export function profilesBody(social: SocialProfiles) {
  return { revision: social.revision, profiles: profilesOf(social).map(profileBody) };
}

export function profilesAnswer(social: SocialProfiles): Reply {
  const headers = { 'cache-control': 'no-store', etag: `"${social.revision}"` };
  return { status: 200, headers, json: { ok: true, ...profilesBody(social) } };
}
