// POST /api/admin/releases: a new release, as a draft unless it is to be published at once.
import * as v from 'valibot';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { createReleaseRecord } from './change.ts';
import { newReleaseEntries, releaseAnswer, releaseReply } from './schema.ts';

export const createRelease = defineRoute({
  method: 'POST',
  path: '/api/admin/releases',
  operationId: 'createRelease',
  summary: 'Add a release of the browser extension',
  description:
    'A draft until `published` is true, for which it needs an archive: 409 `invalid_state`. An ' +
    'archive that is elsewhere is told by `archive_url` (https), `sha256` and `size_bytes`; one ' +
    'is uploaded with PUT …/archive. One of a version, browser and channel: 409 `conflict`.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    halves: 'replaced',
    example: { version: '1.4.2', browser: 'firefox', notes: 'Faster.' },
    schema: v.strictObject(newReleaseEntries),
  },
  replies: { 201: releaseReply[200] },
  problems: ['conflict', 'invalid_state', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    const release = await createReleaseRecord(services, caller.accountId, body);
    return releaseAnswer(201, release, services.config.baseUrl);
  },
});
