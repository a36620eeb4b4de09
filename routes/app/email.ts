// An address at which somebody may be answered. Nothing is sent to it by itself.
import * as v from 'valibot';

export function emailText(lengthMax: number) {
  return v.pipe(
    v.string(),
    v.maxLength(lengthMax),
    v.regex(/^[^\s@<>"]{1,64}@[^\s@<>"]{1,190}$/, 'expected an email address'),
    v.description('Kept sealed, for an answer.'),
  );
}
