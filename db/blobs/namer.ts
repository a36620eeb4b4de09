// A noun whose rows name objects of the blob store. What none of them names is removed.

export interface BlobNamer {
  /** As the check tells it: `speech`. */
  readonly noun: string;
  /** SQL: the ids among `$1::text[]` that rows name, each looked up by an index, as `blob_id`. */
  readonly named: string;
  /**
   * SQL: the rows behind the row `$1` in the order of their ids, `$2` at most. They have `row_id`,
   * `blob_id`, and what the row says of the object: `bytes` and `sha256`, each or null.
   */
  readonly rows: string;
}
