// What all search families do alike with a request that was read. Outages and statuses that were
// asked for come first, then one object with the faults that an object can have.
import type { SimExchange, SimReply } from '../contract.ts';
import type { Refusal } from '../directive.ts';
import { sendReply } from '../generation.ts';
import { isMembers, type Members } from '../members.ts';
import { unknownMembers } from '../unknown.ts';
import { plainSearch, type SearchDirective, searchDirectiveIn } from './directive.ts';
import { padded } from './padding.ts';

/** `exhausted`: the other words for `unpaid`, where a provider has two. */
export type SearchRefusal = Refusal | 'exhausted';

interface Search {
  family: string;
  /** With its family it is what counters and outages go by. */
  endpoint: string;
  directive: SearchDirective;
  refuse(status: SearchRefusal, retryAfterSeconds: number): SimReply;
  whole(): unknown;
}

const json = { 'content-type': 'application/json; charset=utf-8' };
/** What garbage lacks at its end. */
const lackingLength = 20;

/** What holds for this call: what its texts say, or what waits for its like. */
export function directiveFor(
  exchange: SimExchange,
  family: string,
  endpoint: string,
  texts: readonly string[],
): SearchDirective {
  for (const text of texts) {
    const found = searchDirectiveIn(text, family);
    if (found === null) continue;
    return exchange.searches.holds(`${family}:${text}`, found) ? found : plainSearch();
  }
  const names = [`${family}-${endpoint}`, family, ''];
  return exchange.searches.armedFor(names) ?? plainSearch();
}

export function serveSearch(exchange: SimExchange, search: Search): void {
  const { family, endpoint, directive } = search;
  exchange.begin(`${family}-${endpoint}`, family);
  const { fault, firstMs, retryAfterSeconds } = directive;
  const status = exchange.outageStatus ?? wantedStatus(directive);
  if (status !== 200) {
    sendReply(exchange, search.refuse(status, retryAfterSeconds), firstMs);
    return;
  }
  if (fault === 'stall' || (fault === 'cut' && directive.at === 0)) {
    exchange.leave(fault);
    return;
  }
  const whole = search.whole();
  const text = JSON.stringify(directive.unknown ? withUnknown(whole) : whole);
  const body = directive.bytes === null ? text : padded(text, directive.bytes);
  if (fault === 'cut') {
    pourHalf(exchange, Buffer.from(body));
    return;
  }
  exchange.reply(200, json, fault === 'garbage' ? body.slice(0, -lackingLength) : body, firstMs);
}

function wantedStatus({ fault, isExhausted, status }: SearchDirective): SearchRefusal {
  if (isExhausted) return 'exhausted';
  return fault === 'error' ? 500 : status;
}

/** `at=1`: the head and half of the body come before the cut. */
function pourHalf(exchange: SimExchange, bytes: Buffer): void {
  const half = bytes.subarray(0, bytes.length >> 1);
  exchange.pour({
    status: 200,
    headers: json,
    length: bytes.length,
    piece: (offset) => (offset < half.length ? half.subarray(offset) : null),
    kbps: null,
  });
}

/** Members that nobody knows, in the reply and in each of its results. */
function withUnknown(whole: unknown): unknown {
  if (Array.isArray(whole))
    return whole.map((part) => (isMembers(part) ? withUnknown(part) : part));
  if (!isMembers(whole)) return whole;
  const mixed: Members = { ...whole, ...unknownMembers };
  for (const [name, list] of Object.entries(whole)) {
    if (!Array.isArray(list)) continue;
    mixed[name] = list.map((item) => (isMembers(item) ? { ...item, ...unknownMembers } : item));
  }
  return mixed;
}
