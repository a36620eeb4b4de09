// What administrators write of a notice, as a new one has it and as a change does.
import * as v from 'valibot';
import { lineOfText, maxCharacters } from '../../../runtime/http/text.ts';
import { levels } from '../../app/told-notices.ts';
import { versionPattern } from '../../app/version.ts';
import { revisionSchema } from '../revision.ts';
import { audiences } from './schema.ts';

const accountsMax = 1_000;

const text = v.pipe(v.string(), maxCharacters(4_000));
const time = v.pipe(
  v.string(),
  v.regex(
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/,
    'expected a time in ISO 8601 with its zone',
  ),
);
const names = v.pipe(v.array(lineOfText(40)), v.maxLength(20), v.description('Empty: all.'));
const version = v.nullable(
  v.pipe(v.string(), v.regex(versionPattern, 'expected a version such as 1.4.2')),
);
const actionUrl = v.nullable(
  v.pipe(
    v.string(),
    v.maxLength(2_000),
    v.regex(
      /^(?:\/(?![/\\])|https:\/\/)[\x21-\x7e]*$/,
      'expected a path of the web origin, or a https URL',
    ),
  ),
);
const accountIds = v.pipe(v.array(lineOfText(100)), v.maxLength(accountsMax));

/** What may be left out when a notice is made. */
const optionalEntries = {
  level: v.optional(v.picklist(levels)),
  action_url: v.optional(actionUrl),
  audience: v.optional(v.picklist(audiences)),
  account_ids: v.optional(
    v.pipe(accountIds, v.description('For the audience `accounts`, and no other.')),
  ),
  platforms: v.optional(names),
  channels: v.optional(names),
  app_version_min: v.optional(version),
  app_version_max: v.optional(version),
  starts_at: v.optional(time),
  ends_at: v.optional(v.nullable(time)),
  dismissible: v.optional(v.boolean()),
};

export const newNoticeEntries = { title: lineOfText(200), body: text, ...optionalEntries };
export const noticePatchEntries = {
  title: v.optional(lineOfText(200)),
  body: v.optional(text),
  ...optionalEntries,
  revision: v.optional(revisionSchema),
};

const patchSchema = v.strictObject(noticePatchEntries);
export type NoticePatch = v.InferOutput<typeof patchSchema>;
