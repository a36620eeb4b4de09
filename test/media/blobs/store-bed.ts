// A blob store in a folder of the test's own, and what tests of it put in and take out.
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BlobStore, PutBounds } from '../../../media/blobs/contract.ts';
import { createFileBlobStore } from '../../../media/blobs/file-store.ts';
import { createSealer, type Sealer } from '../../../runtime/seal.ts';

export interface StoreBed {
  folder: string;
  store: BlobStore;
  sealer: Sealer;
  close(): Promise<void>;
}

export function newSealer(): Sealer {
  return createSealer(randomBytes(32).toString('base64url'));
}

export async function openStoreBed(): Promise<StoreBed> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-blobs-'));
  const sealer = newSealer();
  const store = createFileBlobStore({ folder, sealers: [sealer], node: 1 });
  return { folder, store, sealer, close: () => rm(folder, { recursive: true, force: true }) };
}

/** The bytes in chunks of odd lengths. */
export async function* inChunks(bytes: Buffer, length = 10_007): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

export function boundsOf(change: Partial<PutBounds> = {}): PutBounds {
  return { bytesMax: 64 * 1_024 * 1_024, signal: new AbortController().signal, ...change };
}

export async function putBytes(store: BlobStore, bytes: Buffer): Promise<string> {
  return (await store.put(inChunks(bytes), boundsOf())).id;
}

export async function readAll(store: BlobStore, id: string, from: number, to: number) {
  const parts: Buffer[] = [];
  for await (const part of store.read(id, from, to)) parts.push(part);
  return Buffer.concat(parts);
}

export function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Files of the folder that this process has open. */
export async function openFilesOf(folder: string): Promise<string[]> {
  const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`));
  const paths = await Promise.all(links.map((link) => link.catch(() => '')));
  return paths.filter((path) => path.startsWith(folder));
}
