// A group of errors that are alike, as administrators see it.
import * as v from 'valibot';
import {
  type ErrorGroup,
  type ErrorSample,
  findError,
  severities,
} from '../../../db/app/errors.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import type { Reply } from '../../../runtime/http/route.ts';
import { Problem } from '../../../runtime/problem.ts';
import type { Services } from '../../services.ts';
import { openedEmail } from './emails.ts';

export const errorParams = v.object({
  fingerprint: v.pipe(
    v.string(),
    v.regex(/^(?:[a-f0-9]{32}|other)$/, 'expected the fingerprint of a group'),
  ),
});

const text = v.nullable(v.string());

export const errorSchema = v.pipe(
  v.strictObject({
    fingerprint: v.string(),
    platform: text,
    error_name: text,
    error_code: text,
    message: v.string(),
    frames: v.array(v.string()),
    severity: v.picklist(severities),
    count: v.pipe(v.number(), v.integer()),
    first_at: v.string(),
    last_at: v.string(),
    resolved_at: text,
  }),
  v.title('AppErrorGroup'),
);

const sampleSchema = v.pipe(
  v.strictObject({
    place: v.picklist(['first', 'last']),
    account_id: text,
    installation_id: text,
    app_version: text,
    message: v.string(),
    stack_trace: text,
    details: v.unknown(),
    email: text,
    at: v.string(),
  }),
  v.title('AppErrorSample'),
);

export const errorReply = {
  200: {
    description: 'The group, with its first and last error.',
    schema: v.strictObject({
      ok: v.literal(true),
      error: errorSchema,
      samples: v.array(sampleSchema),
    }),
  },
};

export function errorBody(group: ErrorGroup) {
  return {
    fingerprint: group.fingerprint,
    platform: group.platform,
    error_name: group.errorName,
    error_code: group.errorCode,
    message: group.message,
    frames: group.frames,
    severity: group.severity,
    count: group.count,
    first_at: new Date(group.firstAtMs).toISOString(),
    last_at: new Date(group.lastAtMs).toISOString(),
    resolved_at: group.resolvedAtMs === null ? null : new Date(group.resolvedAtMs).toISOString(),
  };
}

type Needed = Pick<Services, 'sql' | 'sealer' | 'config'>;

function sampleBody(sample: ErrorSample, fingerprint: string, services: Needed) {
  return {
    place: sample.place,
    account_id: sample.accountId,
    installation_id: sample.installationId,
    app_version: sample.appVersion,
    message: sample.message,
    stack_trace: sample.stackTrace,
    details: sample.details,
    email: openedEmail(services, 'error', fingerprint, sample.email),
    at: new Date(sample.atMs).toISOString(),
  };
}

/** @throws Problem not_found */
export async function errorAnswer(services: Needed, fingerprint: string): Promise<Reply> {
  const found = await withDeadline(findError(services.sql, fingerprint));
  if (found === null) throw new Problem('not_found', { param: 'fingerprint' });
  const { group, samples } = found;
  return {
    status: 200,
    headers: { 'cache-control': 'no-store' },
    json: {
      ok: true,
      error: errorBody(group),
      samples: samples.map((sample) => sampleBody(sample, fingerprint, services)),
    },
  };
}
