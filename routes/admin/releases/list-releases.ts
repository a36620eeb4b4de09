// GET /api/admin/releases: all releases of the browser extension, newest first.
import * as v from 'valibot';
import { browsers, listReleases, releaseChannels } from '../../../db/app/releases.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { defineRoute } from '../../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';
import { adminReleaseBody, adminReleaseSchema } from './schema.ts';

export const listAdminReleases = defineRoute({
  method: 'GET',
  path: '/api/admin/releases',
  operationId: 'listAdminReleases',
  summary: 'List releases of the browser extension',
  description: 'Newest first, drafts too.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  query: v.object({
    ...pageQuery.entries,
    browser: v.optional(v.picklist(browsers)),
    channel: v.optional(v.picklist(releaseChannels)),
    published: v.optional(v.boolean()),
  }),
  replies: { 200: { description: 'A page of releases.', schema: pageSchema(adminReleaseSchema) } },
  problems: ['dependency_unavailable'],
  async handle({ query, services }) {
    const { limit, afterId } = pageRequest(query);
    const { browser = null, channel = null, published = null } = query;
    const filter = { browser, channel, published };
    const rows = await withDeadline(listReleases(services.sql, filter, limit + 1, afterId));
    const shown = rows.slice(0, limit);
    const lastId = rows.length > limit ? (shown.at(-1)?.id ?? null) : null;
    const { baseUrl } = services.config;
    const items = shown.map((release) => adminReleaseBody(release, baseUrl));
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(items, lastId) },
    };
  },
});
