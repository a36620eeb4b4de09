// POST /api/app/installations: an app says that it is installed, and what it is.
import { putInstallation } from '../../db/app/installations.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { defineRoute } from '../define.ts';
import {
  accountOf,
  countInstallation,
  furtherMembers,
  installationId,
  intakeAccess,
  intakeAdvice,
  intakeReplies,
  keptText,
  openBody,
  shortText,
  taken,
} from './intake.ts';

const entries = {
  installation_id: installationId,
  platform: shortText(40),
  app_version: shortText(40),
  channel: shortText(40),
  source: shortText(40),
};

export const tellInstallation = defineRoute({
  method: 'POST',
  path: '/api/app/installations',
  operationId: 'tellInstallation',
  summary: 'Tell of an installation',
  description:
    'Made or brought up to date; nobody reads it back. Up to 20 further members, each a text, ' +
    `number, boolean or null, and 4 KiB in all. ${intakeAdvice}`,
  tag: 'Apps',
  documents: ['account'],
  access: intakeAccess,
  cors: 'web',
  body: {
    ...openBody(entries),
    example: { installation_id: 'desk-7f3a91c2', platform: 'macos', app_version: '1.4.2' },
  },
  replies: intakeReplies,
  problems: ['rate_limited', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    countInstallation(services, body.installation_id);
    const told = {
      id: body.installation_id,
      accountId: accountOf(caller),
      platform: keptText(body.platform),
      appVersion: keptText(body.app_version),
      channel: keptText(body.channel),
      source: keptText(body.source),
      details: furtherMembers(body, entries),
    };
    await withDeadline(putInstallation(services.sql, told));
    return taken;
  },
});
