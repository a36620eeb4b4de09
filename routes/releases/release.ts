// A release of the browser extension as everybody sees it.
import * as v from 'valibot';
import { browsers, type Release, releaseChannels } from '../../db/app/releases.ts';
import { compareVersions } from '../app/version.ts';

export const releaseEntries = {
  id: v.string(),
  version: v.string(),
  browser: v.picklist(browsers),
  channel: v.picklist(releaseChannels),
  archive_url: v.nullable(v.string()),
  sha256: v.nullable(v.string()),
  size_bytes: v.nullable(v.pipe(v.number(), v.integer())),
  min_browser_version: v.nullable(v.string()),
  notes: v.string(),
  published_at: v.nullable(v.string()),
};

export const releaseSchema = v.pipe(v.strictObject(releaseEntries), v.title('BrowserRelease'));

/** Where everybody gets an archive that was uploaded. */
export function archiveUrl(baseUrl: string, id: string): string {
  return `${baseUrl}/api/browser-extension/releases/${id}/archive`;
}

export function releaseBody(release: Release, baseUrl: string) {
  const { id, version, browser, channel, archive, minBrowserVersion, notes } = release;
  const { publishedAtMs } = release;
  return {
    id,
    version,
    browser,
    channel,
    archive_url: archive === null ? null : (archive.url ?? archiveUrl(baseUrl, id)),
    sha256: archive?.sha256 ?? null,
    size_bytes: archive?.sizeBytes ?? null,
    min_browser_version: minBrowserVersion,
    notes,
    published_at: publishedAtMs === null ? null : new Date(publishedAtMs).toISOString(),
  };
}

/** The stable release with the highest version of each browser; null: it has none. */
export function currentReleases(releases: readonly Release[]) {
  const newest = (browser: (typeof browsers)[number]): Release | null =>
    releases
      .filter((each) => each.browser === browser && each.channel === 'stable')
      .reduce<Release | null>(
        (best, each) =>
          best === null || compareVersions(each.version, best.version) > 0 ? each : best,
        null,
      );
  return browsers.map((browser) => [browser, newest(browser)] as const);
}
