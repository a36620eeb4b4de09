// GET /api/admin/installations: where apps are installed, the last active ones first.
import * as v from 'valibot';
import { type Installation, listInstallations } from '../../../db/app/installations.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { defineRoute } from '../../define.ts';
import { pageQuery, pageSchema } from '../../page.ts';
import { timedReply, timedRequest } from '../timed-page.ts';

const text = v.nullable(v.string());

const installationSchema = v.pipe(
  v.strictObject({
    id: v.string(),
    account_id: text,
    platform: text,
    app_version: text,
    channel: text,
    source: text,
    details: v.looseObject({}),
    first_at: v.string(),
    last_at: v.string(),
  }),
  v.title('AppInstallation'),
);

function installationBody(installation: Installation) {
  return {
    id: installation.id,
    account_id: installation.accountId,
    platform: installation.platform,
    app_version: installation.appVersion,
    channel: installation.channel,
    source: installation.source,
    details: installation.details,
    first_at: new Date(installation.firstAtMs).toISOString(),
    last_at: new Date(installation.lastAtMs).toISOString(),
  };
}

export const listAdminInstallations = defineRoute({
  method: 'GET',
  path: '/api/admin/installations',
  operationId: 'listInstallations',
  summary: 'List installations of apps',
  description: 'As they told of themselves, the last ones first. Kept for 400 days after that.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  query: v.object({
    ...pageQuery.entries,
    platform: v.optional(lineOfText(40)),
    app_version: v.optional(lineOfText(40)),
    account_id: v.optional(lineOfText(100)),
  }),
  replies: { 200: { description: 'A page of them.', schema: pageSchema(installationSchema) } },
  problems: ['dependency_unavailable'],
  async handle({ query, services }) {
    const { limit, before } = timedRequest(query);
    const { platform = null, app_version: appVersion = null, account_id: accountId = null } = query;
    const filter = { platform, appVersion, accountId };
    const rows = await withDeadline(listInstallations(services.sql, filter, limit + 1, before));
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...timedReply(rows, limit, installationBody) },
    };
  },
});
