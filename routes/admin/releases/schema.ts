// A release of the browser extension as administrators write and see it.
import * as v from 'valibot';
import { browsers, type Release, releaseChannels } from '../../../db/app/releases.ts';
import type { Reply } from '../../../runtime/http/route.ts';
import { maxCharacters, visibleAscii } from '../../../runtime/http/text.ts';
import { versionPattern } from '../../app/version.ts';
import { releaseBody, releaseEntries } from '../../releases/release.ts';
import { recordHeaders, revisionSchema } from '../revision.ts';

const version = v.pipe(
  v.string(),
  v.maxLength(40),
  v.regex(versionPattern, 'expected a version such as 1.4.2'),
);
const archiveBytesMax = 2 ** 31;

/** An archive that is elsewhere is told whole: where, its digest, its length. */
const optionalEntries = {
  archive_url: v.optional(v.nullable(visibleAscii(2_000))),
  sha256: v.optional(
    v.nullable(v.pipe(v.string(), v.regex(/^[a-f0-9]{64}$/, 'expected 64 hex characters'))),
  ),
  size_bytes: v.optional(
    v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(archiveBytesMax))),
  ),
  min_browser_version: v.optional(v.nullable(version)),
  notes: v.optional(v.pipe(v.string(), maxCharacters(4_000))),
  published: v.optional(v.boolean()),
};

export const newReleaseEntries = {
  version,
  browser: v.picklist(browsers),
  channel: v.optional(v.picklist(releaseChannels)),
  ...optionalEntries,
};
export const releasePatchEntries = {
  version: v.optional(version),
  channel: v.optional(v.picklist(releaseChannels)),
  ...optionalEntries,
  revision: v.optional(revisionSchema),
};
const patchSchema = v.strictObject({
  ...releasePatchEntries,
  browser: v.optional(v.picklist(browsers)),
});
export type ReleasePatch = v.InferOutput<typeof patchSchema>;

export const adminReleaseSchema = v.pipe(
  v.strictObject({
    ...releaseEntries,
    uploaded: v.pipe(v.boolean(), v.description('The archive was uploaded here.')),
    created_at: v.string(),
    revision: revisionSchema,
  }),
  v.title('AdminBrowserRelease'),
);

export function adminReleaseBody(release: Release, baseUrl: string) {
  return {
    ...releaseBody(release, baseUrl),
    uploaded: release.archive !== null && release.archive.blobId !== null,
    created_at: new Date(release.createdAtMs).toISOString(),
    revision: release.revision,
  };
}

const single = v.strictObject({ ok: v.literal(true), release: adminReleaseSchema });
export const releaseReply = { 200: { description: 'The release.', schema: single } };

export function releaseAnswer(status: 200 | 201, release: Release, baseUrl: string): Reply {
  const json = { ok: true, release: adminReleaseBody(release, baseUrl) };
  return { status, headers: recordHeaders(release.revision), json };
}
