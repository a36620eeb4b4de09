// GET /sim/source/{name}.mp4: videos on the web for whoever fetches them. Some of them lie, some
// never end, and some lead elsewhere.
import type { SimExchange, SimFamily } from '../contract.ts';
import { pouredBytes } from '../pourer.ts';
import { countClip } from './count.ts';
import { lies } from './lies.ts';
import { manyStreams } from './streams.ts';

export const sourceFamily: SimFamily = {
  name: 'source',
  keyOf: () => '',
  keep: (req) => ({
    file: req.getParameter(0) ?? '',
    kbps: req.getQuery('kbps') ?? '',
    url: req.getQuery('url') ?? '',
    host: req.getHeader('host'),
  }),
  routes: [{ method: 'get', path: '/sim/source/:file', handle: serve }],
};

const headers = { 'content-type': 'video/mp4' };
const hugeBytes = 2 * 1_024 ** 3;
const secondsMax = 900;
const redirectsMax = 100;
const streamCount = 10_000;
/** A file that begins as one: `ftyp`, then a box of sound and pictures without an end. */
const beginning = Buffer.concat([
  Buffer.from('00000018667479706d703432000000006d70343269736f6d', 'hex'),
  Buffer.from('000000016d64617400000fffffffffff', 'hex'),
]);
const filler = Buffer.alloc(64 * 1_024, 0x5a);

/** Each by the part of its name in front of `.mp4`. */
const sources: Readonly<Record<string, (exchange: SimExchange) => void>> = {
  count: (exchange) => pourClip(exchange, countClip(10)),
  silent: (exchange) => pourClip(exchange, countClip(10, { sound: false })),
  tall: (exchange) => pourClip(exchange, countClip(10, { isTall: true })),
  'moov-last': (exchange) => pourClip(exchange, countClip(10, { flags: '' })),
  slow: (exchange) => {
    const kbps = Number(exchange.kept.kbps) || 256;
    pourClip(exchange, countClip(10), { kbps });
  },
  cut: (exchange) => pourClip(exchange, countClip(10), { shareSent: 0.5 }),
  stall: (exchange) => pourClip(exchange, countClip(10), { shareSent: 0.5, stalls: true }),
  endless: (exchange) => pourFiller(exchange, null),
  huge: (exchange) => pourFiller(exchange, hugeBytes),
  streams: (exchange) => {
    exchange.pour({ status: 200, headers, ...pouredBytes(manyStreams(streamCount)) });
  },
  gone: (exchange) => exchange.reply(404, { 'content-type': 'text/plain' }, 'not found\n'),
  loop: (exchange) => redirect(exchange, `http://${exchange.kept.host ?? ''}/sim/source/loop.mp4`),
  'redirect-to': (exchange) => redirect(exchange, decoded(exchange.kept.url ?? '')),
};

function serve(exchange: SimExchange): void {
  const file = exchange.kept.file ?? '';
  const name = file.replace(/\.mp4$/, '');
  if (Object.hasOwn(sources, name)) sources[name]?.(exchange);
  else if (Object.hasOwn(lies, name)) {
    exchange.reply(200, headers, lies[name]?.(exchange.kept.host ?? '') ?? '');
  } else serveNumbered(exchange, name);
}

/** `count-60`: so many seconds; `redirect-3`: so many redirects in front of the first one. */
function serveNumbered(exchange: SimExchange, name: string): void {
  const [, kind, digits] = /^(count|redirect)-(\d{1,4})$/.exec(name) ?? [];
  const number = Number(digits);
  if (kind === 'count' && number >= 1 && number <= secondsMax) {
    pourClip(exchange, countClip(number));
  } else if (kind === 'redirect' && number <= redirectsMax) {
    const next = number <= 1 ? 'count' : `redirect-${number - 1}`;
    redirect(exchange, `/sim/source/${next}.mp4`);
  } else exchange.reply(404, { 'content-type': 'text/plain' }, 'no such source\n');
}

function redirect(exchange: SimExchange, location: string): void {
  // A line break would be another header.
  exchange.reply(302, { location: location.replace(/[^\u0021-\u007e]/g, '') }, '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

interface PourOptions {
  kbps?: number | null;
  shareSent?: number;
  /** It goes silent where it would be cut. */
  stalls?: boolean;
}

function pourClip(
  exchange: SimExchange,
  clip: Promise<Buffer | null>,
  { kbps = null, shareSent = 1, stalls = false }: PourOptions = {},
): void {
  void clip.then((bytes) => {
    if (bytes === null) {
      exchange.reply(500, { 'content-type': 'text/plain' }, 'ffmpeg failed\n');
      return;
    }
    const sent = bytes.subarray(0, Math.floor(bytes.length * shareSent));
    const { piece } = pouredBytes(sent);
    exchange.pour({
      status: 200,
      headers,
      length: bytes.length,
      piece: (offset) => piece(offset) ?? (stalls ? 'stall' : null),
      kbps,
    });
  });
}

function pourFiller(exchange: SimExchange, length: number | null): void {
  const piece = (offset: number) =>
    offset < beginning.length
      ? beginning.subarray(offset)
      : filler.subarray(0, Math.min(filler.length, (length ?? Number.MAX_SAFE_INTEGER) - offset));
  exchange.pour({ status: 200, headers, length, piece, kbps: null });
}
