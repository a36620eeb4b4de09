// GET /api/admin/social-profiles: all profiles, those that are not enabled too.
import { readSocialProfiles } from '../../../db/app/social-profiles.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { defineRoute } from '../../define.ts';
import { profilesAnswer, profilesPath, profilesReply } from './social-profiles.ts';

export const getAdminSocialProfiles = defineRoute({
  method: 'GET',
  path: profilesPath,
  operationId: 'getAdminSocialProfiles',
  summary: 'Read the social profiles',
  description: 'Those that are not enabled too. Revision 0: nobody has written them yet.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  replies: profilesReply,
  problems: ['dependency_unavailable'],
  async handle({ services }) {
    return profilesAnswer(await withDeadline(readSocialProfiles(services.sql)));
  },
});
