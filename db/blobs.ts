// Who names objects of the blob store. A noun that does is a line here, with its own SQL in its own
// file. An object that it forgets to name is removed after a day.
import { exportBlobs } from './accounts/exports.ts';
import { releaseBlobs } from './app/releases.ts';
import type { BlobNamer } from './blobs/namer.ts';
import type { Queryable } from './driver/sql.ts';
import { generatedVideoBlobs } from './generated-videos.ts';
import { speechBlobs } from './generations.ts';
import { storedVideoBlobs } from './video-jobs.ts';

export const blobNamers: readonly BlobNamer[] = [
  speechBlobs,
  generatedVideoBlobs,
  storedVideoBlobs,
  exportBlobs,
  releaseBlobs,
];

/** The ids among these that any row names. */
export async function findNamedBlobs(
  sql: Queryable,
  ids: readonly string[],
  namers = blobNamers,
): Promise<Set<string>> {
  const named = new Set<string>();
  for (const namer of namers) {
    const rows = await sql.unsafe<{ blob_id: string }[]>(namer.named, [[...ids]], {
      prepare: true,
    });
    for (const row of rows) named.add(row.blob_id);
  }
  return named;
}

export interface NamedBlob {
  noun: string;
  rowId: string;
  blobId: string;
  /** Null: the row does not say it. */
  bytes: number | null;
  sha256: string | null;
}

/** Every row that names an object, page by page. */
export async function* namedBlobs(
  sql: Queryable,
  pageLength: number,
  namers = blobNamers,
): AsyncGenerator<NamedBlob, void, undefined> {
  for (const { noun, rows: text } of namers) {
    for (let after = '', isMore = true; isMore; ) {
      const rows = await sql.unsafe<
        { row_id: string; blob_id: string; bytes: unknown; sha256: string | null }[]
      >(text, [after, pageLength]);
      for (const { row_id: rowId, blob_id: blobId, bytes, sha256 } of rows) {
        yield { noun, rowId, blobId, bytes: bytes === null ? null : Number(bytes), sha256 };
      }
      after = rows.at(-1)?.row_id ?? after;
      isMore = rows.length === pageLength;
    }
  }
}
