// The members of a client as it is declared, changed and described by a document of its own.
import * as v from 'valibot';
import { maxCharacters } from '../../runtime/http/text.ts';
import { oauthGrants, oauthScopes } from './client.ts';
import { redirectBytesMax, redirectUrisMax } from './redirect.ts';

const displayNameMax = 60;
// These are control characters, line ends, marks that nobody sees, and marks that change the
// direction of what follows (UAX 9). A name is shown beside the question whether to trust it.
const unfit =
  '\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e' +
  '\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb';
const halves = '\\ud800-\\udfff';
const pair = '[\\ud800-\\udbff][\\udc00-\\udfff]';
const displayNamePattern = new RegExp(
  `^(?:[^\\s${unfit}${halves}]|${pair})(?:[^${unfit}${halves}]|${pair})*$`,
);

/** What people read when they are asked. */
export const displayName = v.pipe(
  v.string(),
  v.minLength(1),
  maxCharacters(displayNameMax),
  v.regex(displayNamePattern, 'expected one line of text without control or direction marks'),
);

export const redirectUris = v.pipe(
  v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(redirectBytesMax))),
  v.maxLength(redirectUrisMax),
);

export const grants = v.pipe(
  v.array(v.picklist(oauthGrants)),
  v.minLength(1),
  v.maxLength(oauthGrants.length),
);

export const scopes = v.pipe(
  v.array(v.picklist(oauthScopes)),
  v.minLength(1),
  v.maxLength(oauthScopes.length),
);
