// A release as it stands once what an administrator wrote is taken over.
import type { NewRelease, Release, ReleaseArchive } from '../../../db/app/releases.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import { Problem } from '../../../runtime/problem.ts';
import type { ReleasePatch } from './schema.ts';

/** What is absent is as it was, or as a new release has it. @throws Problem */
export function writtenRelease(
  id: string,
  patch: ReleasePatch,
  before: Release | null,
  nowMs: number,
): NewRelease {
  const archive = writtenArchive(patch, before?.archive ?? null);
  const publishedBefore = before?.publishedAtMs ?? null;
  const isPublished = patch.published ?? publishedBefore !== null;
  if (isPublished && archive === null) {
    const message = 'A release is published with its archive: upload it, or say where it is.';
    throw new Problem('invalid_state', { message });
  }
  return {
    id,
    version: patch.version ?? before?.version ?? '',
    browser: patch.browser ?? before?.browser ?? 'chrome',
    channel: patch.channel ?? before?.channel ?? 'stable',
    archive,
    minBrowserVersion:
      patch.min_browser_version === undefined
        ? (before?.minBrowserVersion ?? null)
        : patch.min_browser_version,
    notes: patch.notes ?? before?.notes ?? '',
    publishedAtMs: isPublished ? (publishedBefore ?? nowMs) : null,
  };
}

/** @throws Problem invalid_request */
function writtenArchive(patch: ReleasePatch, before: ReleaseArchive | null): ReleaseArchive | null {
  const { archive_url: url, sha256, size_bytes: sizeBytes } = patch;
  if (url === undefined) {
    const lone = sha256 !== undefined ? 'sha256' : sizeBytes !== undefined ? 'size_bytes' : null;
    if (lone !== null) throw fieldProblem(lone, 'It is told with `archive_url`.');
    return before;
  }
  if (url === null) return before?.blobId == null ? null : before;
  if (!isWebUrl(url)) throw fieldProblem('archive_url', 'Expected a https URL.');
  if (typeof sha256 !== 'string') throw fieldProblem('sha256', 'The digest of the archive.');
  if (typeof sizeBytes !== 'number') throw fieldProblem('size_bytes', 'The length of the archive.');
  return { blobId: null, url, sha256, sizeBytes, uploadedAtMs: null };
}

function isWebUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  return protocol === 'https:' && username === '' && password === '';
}
