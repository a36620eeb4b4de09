// POST /api/app/feedback: what somebody says of an app.
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { appRules } from '../../actors/app/limits.ts';
import { sealFor } from '../../actors/app/seals.ts';
import { putFeedback } from '../../db/app/feedback.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { networkOf } from '../../runtime/http/address.ts';
import { maxCharacters } from '../../runtime/http/text.ts';
import { newId } from '../../runtime/ids.ts';
import { defineRoute } from '../define.ts';
import { emailText } from './email.ts';
import {
  accountOf,
  countInstallation,
  countIntake,
  installationId,
  intakeAccess,
  intakeAdvice,
  intakeReplies,
  keptText,
  shortText,
  taken,
} from './intake.ts';

export const giveFeedback = defineRoute({
  method: 'POST',
  path: '/api/app/feedback',
  operationId: 'giveFeedback',
  summary: 'Say something of an app',
  description:
    'The same words of the same person within 24 hours are one. Five an hour: of an account, ' +
    `else of an installation and of a network. ${intakeAdvice}`,
  tag: 'Apps',
  documents: ['account'],
  access: intakeAccess,
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: 64 * 1_024,
    halves: 'replaced',
    example: { message: 'I like how fast it is.', rating: 5 },
    schema: v.strictObject({
      message: v.pipe(v.string(), v.minLength(1), maxCharacters(5_000)),
      installation_id: v.nullish(installationId),
      platform: shortText(40),
      app_version: shortText(40),
      category: shortText(40),
      rating: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5))),
      email: v.nullish(emailText(254)),
    }),
  },
  replies: intakeReplies,
  problems: ['rate_limited', 'dependency_unavailable'],
  async handle({ body, caller, services, exchange }) {
    countInstallation(services, body.installation_id);
    const accountId = accountOf(caller);
    const installation = body.installation_id ?? null;
    const network = networkOf(exchange.clientAddress);
    const names = accountId === null ? [installation, network] : [accountId];
    const counted = names.flatMap((name) =>
      name === null ? [] : [[appRules.feedback, name] as const],
    );
    countIntake(services, counted);
    const id = newId('fbk', services.system.node);
    const message = keptText(body.message) ?? '';
    const said = JSON.stringify([accountId ?? installation, message]);
    const digest = createHash('sha256').update(said).digest('base64url');
    const feedback = {
      id,
      accountId,
      installationId: installation,
      platform: keptText(body.platform),
      appVersion: keptText(body.app_version),
      category: keptText(body.category),
      rating: body.rating ?? null,
      message,
      digest,
      email: body.email == null ? null : sealFor(services.sealer, 'feedback', digest, body.email),
    };
    const { feedbackSameMs } = services.limits.app;
    await withDeadline(putFeedback(services.sql, feedback, feedbackSameMs));
    return taken;
  },
});
