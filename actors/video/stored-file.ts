// What a job's row keeps of its stored file, as JSON.
export interface StoredFile {
  blobId: string;
  sizeBytes: number;
  /** In hex. */
  sha256: string;
  mimeType: string;
  hasSound: boolean;
  /** As asked for, or the nearest one where the model chose. */
  ratio: string;
  /** As measured. */
  durationMs: number;
  width: number;
  height: number;
}
