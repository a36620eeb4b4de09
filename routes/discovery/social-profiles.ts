// GET /api/social-profiles: where the service is found elsewhere.
import * as v from 'valibot';
import { defineRoute } from '../define.ts';
import { profileBody, profileSchema, profilesOf, revisionNumber } from './profiles.ts';

export const socialProfiles = defineRoute({
  method: 'GET',
  path: '/api/social-profiles',
  operationId: 'listSocialProfiles',
  summary: 'List the social profiles of the service',
  description: 'Those that are enabled, in the order in which administrators put them.',
  tag: 'Discovery',
  documents: ['account'],
  access: { kind: 'none' },
  cors: 'public',
  replies: {
    200: {
      description: 'The profiles.',
      schema: v.strictObject({
        ok: v.literal(true),
        revision: revisionNumber,
        profiles: v.array(profileSchema),
      }),
    },
  },
  problems: [],
  handle({ services }) {
    const { social } = services.app.board.current();
    const enabled = profilesOf(social).filter((profile) => profile.enabled);
    return {
      status: 200,
      headers: { 'cache-control': 'public, max-age=60' },
      json: { ok: true, revision: social.revision, profiles: enabled.map(profileBody) },
    };
  },
});
