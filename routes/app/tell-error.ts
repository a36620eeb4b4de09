// POST /api/app/errors: something failed in an app. Errors that are alike are one group.
import * as v from 'valibot';
import { sealFor } from '../../actors/app/seals.ts';
import { severities, type ToldError } from '../../db/app/errors.ts';
import { maxCharacters } from '../../runtime/http/text.ts';
import { fieldProblem } from '../../runtime/http/validate.ts';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
import { emailText } from './email.ts';
import { identityOf } from './fingerprint.ts';
import {
  accountOf,
  countInstallation,
  installationId,
  intakeAccess,
  intakeAdvice,
  intakeReplies,
  keptText,
  shortText,
  taken,
} from './intake.ts';
import { redactJson } from './redact.ts';

const KIB = 1_024;
const messageMax = 2_000;
const stackBytesMax = 16 * KIB;
const detailsBytesMax = 8 * KIB;
const json = v.union([v.record(v.string(), v.unknown()), v.array(v.unknown()), v.string()]);

const schema = v.strictObject({
  message: v.pipe(v.string(), v.minLength(1), maxCharacters(messageMax)),
  installation_id: v.nullish(installationId),
  platform: shortText(200),
  app_version: shortText(200),
  error_name: shortText(200),
  error_code: shortText(200),
  email: v.nullish(emailText(200)),
  stack_trace: v.nullish(v.pipe(v.string(), v.description('At most 16 KiB.'))),
  details: v.nullish(v.pipe(json, v.description('At most 8 KiB as JSON.'))),
  severity: v.optional(v.picklist(severities), 'error'),
});

export const tellError = defineRoute({
  method: 'POST',
  path: '/api/app/errors',
  operationId: 'tellError',
  summary: 'Tell of an error',
  description:
    'Grouped by platform, name, code, message without what varies, and the first three frames. ' +
    `A group has its count, and its first and last error. ${intakeAdvice}`,
  tag: 'Apps',
  documents: ['account'],
  access: intakeAccess,
  cors: 'web',
  body: {
    kind: 'json',
    // Texts of full length, each character of them escaped.
    bytesMax: 192 * KIB,
    halves: 'replaced',
    example: { message: 'The file could not be read.', error_name: 'TypeError' },
    schema,
  },
  replies: intakeReplies,
  problems: ['rate_limited', 'overloaded', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    countInstallation(services, body.installation_id);
    requireBytes('stack_trace', body.stack_trace ?? '', stackBytesMax);
    requireBytes('details', JSON.stringify(body.details ?? null), detailsBytesMax);
    const told = toldError(body, accountOf(caller));
    const { email } = body;
    const sealed =
      email === null || email === undefined
        ? null
        : sealFor(services.sealer, 'error', told.fingerprint, email);
    if (await services.app.errors.put({ ...told, email: sealed })) return taken;
    throw new Problem('overloaded', { headers: { 'retry-after': '2' } });
  },
});

/** @throws Problem invalid_request */
function requireBytes(path: string, text: string, bytesMax: number): void {
  if (Buffer.byteLength(text) <= bytesMax) return;
  throw fieldProblem(path, `At most ${bytesMax} bytes.`);
}

function toldError(
  body: v.InferOutput<typeof schema>,
  accountId: string | null,
): Omit<ToldError, 'email'> {
  const faulty = {
    platform: keptText(body.platform),
    errorName: keptText(body.error_name),
    errorCode: keptText(body.error_code),
    message: keptText(body.message) ?? '',
    stackTrace: keptText(body.stack_trace),
  };
  const details = body.details ?? null;
  return {
    ...faulty,
    ...identityOf(faulty),
    severity: body.severity,
    accountId,
    installationId: body.installation_id ?? null,
    appVersion: keptText(body.app_version),
    details: details === null ? null : redactJson(details),
    atMs: Date.now(),
  };
}
