// What somebody said of an app, as administrators see it.
import * as v from 'valibot';
import type { Feedback } from '../../../db/app/feedback.ts';
import type { Services } from '../../services.ts';
import { openedEmail } from './emails.ts';

export const feedbackParams = v.object({
  feedback_id: v.pipe(v.string(), v.regex(/^fbk_[a-f0-9]{24}$/, 'expected the id of a feedback')),
});

const text = v.nullable(v.string());

export const feedbackSchema = v.pipe(
  v.strictObject({
    id: v.string(),
    account_id: text,
    installation_id: text,
    platform: text,
    app_version: text,
    category: text,
    rating: v.nullable(v.pipe(v.number(), v.integer())),
    message: v.string(),
    email: text,
    count: v.pipe(v.number(), v.integer(), v.description('How often it was said.')),
    created_at: v.string(),
    last_at: v.string(),
    handled_at: text,
  }),
  v.title('AppFeedback'),
);

export function feedbackBody(said: Feedback, services: Pick<Services, 'sealer' | 'config'>) {
  return {
    id: said.id,
    account_id: said.accountId,
    installation_id: said.installationId,
    platform: said.platform,
    app_version: said.appVersion,
    category: said.category,
    rating: said.rating,
    message: said.message,
    email: openedEmail(services, 'feedback', said.digest, said.email),
    count: said.count,
    created_at: new Date(said.createdAtMs).toISOString(),
    last_at: new Date(said.lastAtMs).toISOString(),
    handled_at: said.handledAtMs === null ? null : new Date(said.handledAtMs).toISOString(),
  };
}
