// Releases of the browser extension: drafts that administrators see, and what is published with
// its archive, which was uploaded here or is elsewhere.
import type { BlobNamer } from '../blobs/namer.ts';
import type { Queryable, Transaction } from '../driver/sql.ts';
import { millisecondsOf } from '../video-jobs.ts';

export const browsers = ['chrome', 'firefox', 'edge', 'safari'] as const;
export const releaseChannels = ['stable', 'beta'] as const;
export type Browser = (typeof browsers)[number];

export interface ReleaseArchive {
  /** Null: it is elsewhere. */
  blobId: string | null;
  /** Null: it was uploaded. */
  url: string | null;
  sha256: string;
  sizeBytes: number;
  uploadedAtMs: number | null;
}

export interface NewRelease {
  /** `rel_` and 24 hex characters. */
  id: string;
  version: string;
  browser: Browser;
  channel: (typeof releaseChannels)[number];
  archive: ReleaseArchive | null;
  minBrowserVersion: string | null;
  notes: string;
  /** Null: a draft. */
  publishedAtMs: number | null;
}

export interface Release extends NewRelease {
  revision: number;
  createdAtMs: number;
}

/** So many of each browser and channel are told. */
const toldMax = 12;

const columns = `r.id, r.version, r.browser, r.channel, r.blob_id AS "blobId",
  r.archive_url AS "url", r.sha256, r.size_bytes::float8 AS "sizeBytes",
  ${millisecondsOf('r.uploaded_at')} AS "uploadedAtMs",
  r.min_browser_version AS "minBrowserVersion",
  r.notes, ${millisecondsOf('r.published_at')} AS "publishedAtMs", r.revision,
  ${millisecondsOf('r.created_at')} AS "createdAtMs"`;

type Row = Omit<Release, 'archive'> &
  Omit<ReleaseArchive, 'sha256' | 'sizeBytes'> & {
    sha256: string | null;
    sizeBytes: number | null;
  };

function readRelease(row: Row): Release {
  const { blobId, url, sha256, sizeBytes, uploadedAtMs, ...release } = row;
  const hasArchive = sha256 !== null && sizeBytes !== null;
  const archive = hasArchive ? { blobId, url, sha256, sizeBytes, uploadedAtMs } : null;
  return { ...release, archive };
}

/** The newest published ones of each browser and channel, the newest first. */
export async function listToldReleases(sql: Queryable): Promise<Release[]> {
  const rows = await sql.unsafe<Row[]>(
    `SELECT ${columns} FROM (
      SELECT *, row_number() OVER (
        PARTITION BY browser, channel ORDER BY published_at DESC, id DESC) AS place
      FROM app_releases WHERE published_at IS NOT NULL) r
    WHERE r.place <= $1 ORDER BY r.published_at DESC, r.id DESC`,
    [toldMax],
  );
  return rows.map(readRelease);
}

export async function findRelease(sql: Queryable, id: string): Promise<Release | null> {
  const [row] = await sql.unsafe<Row[]>(
    `SELECT ${columns} FROM app_releases r WHERE r.id = $1`,
    [id],
    { prepare: true },
  );
  return row === undefined ? null : readRelease(row);
}

export interface ReleaseFilter {
  browser: string | null;
  channel: string | null;
  published: boolean | null;
}

/** Newest first, older than `before`. */
export async function listReleases(
  sql: Queryable,
  { browser, channel, published }: ReleaseFilter,
  limit: number,
  before: string | null,
): Promise<Release[]> {
  const rows = await sql.unsafe<Row[]>(
    `SELECT ${columns} FROM app_releases r
    WHERE ($1::text IS NULL OR r.id < $1) AND ($2::text IS NULL OR r.browser = $2)
      AND ($3::text IS NULL OR r.channel = $3)
      AND ($4::boolean IS NULL OR (r.published_at IS NOT NULL) = $4)
    ORDER BY r.id DESC LIMIT $5`,
    [before, browser, channel, published, limit],
  );
  return rows.map(readRelease);
}

/** False: there is another one of this browser, channel and version. */
export async function putRelease(
  transaction: Transaction,
  { archive, ...release }: NewRelease,
): Promise<boolean> {
  const { id, version, browser, channel } = release;
  const taken = await transaction`
    SELECT 1 FROM app_releases WHERE browser = ${browser} AND channel = ${channel}
      AND version = ${version} AND id <> ${id}`;
  if (taken.length > 0) return false;
  const uploadedAt = archive?.uploadedAtMs ?? null;
  const publishedAt = release.publishedAtMs;
  await transaction`
    INSERT INTO app_releases (id, version, browser, channel, blob_id, archive_url, sha256,
      size_bytes, uploaded_at, min_browser_version, notes, published_at)
    VALUES (${id}, ${version}, ${browser}, ${channel}, ${archive?.blobId ?? null},
      ${archive?.url ?? null}, ${archive?.sha256 ?? null}, ${archive?.sizeBytes ?? null},
      ${uploadedAt === null ? null : new Date(uploadedAt)}, ${release.minBrowserVersion},
      ${release.notes}, ${publishedAt === null ? null : new Date(publishedAt)})
    ON CONFLICT (id) DO UPDATE SET version = excluded.version, browser = excluded.browser,
      channel = excluded.channel, blob_id = excluded.blob_id, archive_url = excluded.archive_url,
      sha256 = excluded.sha256, size_bytes = excluded.size_bytes,
      uploaded_at = excluded.uploaded_at, min_browser_version = excluded.min_browser_version,
      notes = excluded.notes, published_at = excluded.published_at,
      revision = app_releases.revision + 1, updated_at = now()`;
  return true;
}

export async function deleteRelease(transaction: Transaction, id: string): Promise<void> {
  await transaction`DELETE FROM app_releases WHERE id = ${id}`;
}

/** The archives that were uploaded. */
export const releaseBlobs: BlobNamer = {
  noun: 'release',
  named: `SELECT r.blob_id FROM app_releases r WHERE r.blob_id = ANY ($1::text[])`,
  rows: `SELECT r.id AS row_id, r.blob_id, r.size_bytes AS bytes, r.sha256
    FROM app_releases r WHERE r.id > $1 AND r.blob_id IS NOT NULL ORDER BY r.id LIMIT $2`,
};
