// A file as a reply: read and compressed once per thread, then served from memory.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Exchange, Reply } from '../../runtime/http/route.ts';

interface Loaded {
  plain: Uint8Array;
  zipped: Uint8Array;
  etag: string;
}

export interface AssetOptions {
  /** Called once per thread, when the file is first asked for. */
  load: () => Promise<Uint8Array>;
  mediaType: string;
  /** How long the browser keeps its copy; 0: it asks every time whether the file has changed. */
  maxAgeSeconds: number;
}

/** Answers with the file in the encoding that the client takes, or with a 304. */
export function createAsset(options: AssetOptions): (exchange: Exchange) => Promise<Reply> {
  let loading: Promise<Loaded> | null = null;
  return async (exchange) => {
    // Read before the first wait: these headers do not outlive the first turn.
    const isZipped = takesGzip(exchange.header('accept-encoding') ?? '');
    const known = exchange.header('if-none-match');
    // A file that cannot be read now is asked for again.
    loading ??= loadOnce(options.load).catch((error: unknown) => {
      loading = null;
      throw error;
    });
    const { plain, zipped, etag } = await loading;
    const { maxAgeSeconds, mediaType } = options;
    const headers: Record<string, string> = {
      etag: `"${etag}${isZipped ? '-gzip' : ''}"`,
      'cache-control': maxAgeSeconds === 0 ? 'no-cache' : `public, max-age=${maxAgeSeconds}`,
      vary: 'accept-encoding',
      'x-content-type-options': 'nosniff',
    };
    if (known === headers.etag) return { status: 304, text: '', mediaType: '', headers };
    if (isZipped) headers['content-encoding'] = 'gzip';
    return { status: 200, bytes: isZipped ? zipped : plain, mediaType, headers };
  };
}

/** By name: what `*` stands for is nothing that anybody sends who wants it (RFC 9110, 12.5.3). */
function takesGzip(accepted: string): boolean {
  const range = /(?:^|,)\s*gzip\s*(?:;\s*q=([\d.]+)\s*)?(?:,|$)/i.exec(accepted);
  return range !== null && Number(range[1] ?? 1) > 0;
}

async function loadOnce(load: () => Promise<Uint8Array>): Promise<Loaded> {
  const plain = await load();
  const zipped = await promisify(gzip)(plain);
  const etag = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
  return { plain, zipped, etag };
}
