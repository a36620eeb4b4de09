// What the routes of signing in take and answer.
import * as v from 'valibot';
import { lineOfText } from '../../runtime/http/text.ts';
import { sessionEntries, sessionSchema, userSchema } from './view.ts';

export const emailSchema = v.pipe(v.string(), v.minLength(3), v.maxLength(254));
export const purposeSchema = v.picklist(['login', 'signup', 'login_or_signup']);
export const codeSchema = v.pipe(v.string(), v.regex(/^[0-9]{6}$/, 'expected six digits'));
/** Too long for any password: the rules say how long one may be. */
export const passwordSchema = v.pipe(v.string(), v.minLength(1), v.maxLength(1_024));
export const fullNameSchema = lineOfText(120);
export const referralCodeSchema = lineOfText(64);

/** What is told of a code that was sent. */
export const sentSchema = {
  ok: v.literal(true),
  expires_in: v.pipe(v.number(), v.integer()),
  resend_in: v.pipe(v.number(), v.integer()),
};

export const enteredSchema = v.strictObject({
  ok: v.literal(true),
  user: userSchema,
  session: sessionSchema,
  created: v.boolean(),
});

/** An app's new session: its token is in this reply and nowhere else. */
export const appSessionSchema = v.strictObject({
  ok: v.literal(true),
  user: userSchema,
  session: v.pipe(
    v.strictObject({
      token: v.string(),
      header_name: v.literal('X-Svc-Session'),
      ...sessionEntries,
    }),
    v.title('AppSession'),
  ),
});
