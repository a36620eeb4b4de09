// POST /api/app/activity: somebody uses an app. It is counted by account or installation and day;
// the count is written within ten seconds.
import * as v from 'valibot';
import { fieldProblem } from '../../runtime/http/validate.ts';
import { Problem } from '../../runtime/problem.ts';
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
  installation_id: v.nullish(installationId),
  platform: shortText(40),
  app_version: shortText(40),
  source: shortText(40),
};

export const tellActivity = defineRoute({
  method: 'POST',
  path: '/api/app/activity',
  operationId: 'tellActivity',
  summary: 'Tell that an app is used',
  description:
    'Counted by the account, or without one by the installation, which is required then, and by ' +
    'UTC day. Up to 20 further members, each a text, number, boolean or null, and 4 KiB in all; ' +
    `they are not kept. ${intakeAdvice}`,
  tag: 'Apps',
  documents: ['account'],
  access: intakeAccess,
  cors: 'web',
  body: {
    ...openBody(entries),
    example: { installation_id: 'desk-7f3a91c2', platform: 'macos', source: 'launch' },
  },
  replies: intakeReplies,
  problems: ['rate_limited', 'overloaded'],
  handle({ body, caller, services }) {
    const accountId = accountOf(caller);
    const subject = accountId ?? body.installation_id ?? null;
    if (subject === null) {
      throw fieldProblem('installation_id', 'Without a credential it is required.');
    }
    countInstallation(services, body.installation_id);
    furtherMembers(body, entries);
    const active = {
      subject,
      accountId,
      platform: keptText(body.platform),
      appVersion: keptText(body.app_version),
      source: keptText(body.source),
    };
    if (services.app.activity.count(active, Date.now())) return taken;
    throw new Problem('overloaded', { headers: { 'retry-after': '10' } });
  },
});
