// Who is lent something in development mode: a page that this server gave to a browser on this
// machine. Every sign of another caller counts.
import type { Exchange } from '../../runtime/http/route.ts';

const loopbackName = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const loopbackAddress = /^(127\.|::1$)/;
/** What a proxy in front of us adds: its clients are not on this machine, though it is. */
const proxyHeaders = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via', 'x-forwarded-host'];

type Headers = Pick<Exchange, 'header' | 'clientAddress'>;

/**
 * Whether the request was sent by a page that this server gave to a browser on this machine. A
 * page of another site fails by its Origin. A name that was rebound to the loopback fails by its
 * Host. A client elsewhere fails by its address, or by what the proxy before it adds.
 */
export function isOwnPage(exchange: Headers, baseUrl: string): boolean {
  return exchange.header('origin') !== undefined && isOwnVisitor(exchange, baseUrl);
}

/** The same, or another program on this machine, or a person who typed the address. */
export function isOwnVisitor(exchange: Headers, baseUrl: string): boolean {
  const host = exchange.header('host') ?? '';
  const origin = exchange.header('origin');
  const site = exchange.header('sec-fetch-site') ?? 'same-origin';
  if (proxyHeaders.some((name) => exchange.header(name) !== undefined)) return false;
  if (!loopbackAddress.test(exchange.clientAddress)) return false;
  if (!loopbackName.test(new URL(baseUrl).hostname)) return false;
  if (!loopbackName.test(host.replace(/:\d+$/, ''))) return false;
  // Browsers say `none` where nobody's page asked, but whoever uses the browser.
  if (origin === undefined) return site === 'same-origin' || site === 'none';
  return site === 'same-origin' && (origin === `http://${host}` || origin === `https://${host}`);
}
