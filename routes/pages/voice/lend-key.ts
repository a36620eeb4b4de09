// POST /voice/key: in development mode a page on the developer's own machine is lent a key that can
// talk and nothing else. The answer is for that page alone, so every sign of another caller counts.
import { readVoicePageKey } from '../../../actors/credentials/voice-page-key.ts';
import type { Exchange } from '../../../runtime/http/route.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';

const loopbackName = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const loopbackAddress = /^(127\.|::1$)/;
/** What a proxy in front of us adds: its clients are not on this machine, though it is. */
const proxyHeaders = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via', 'x-forwarded-host'];

/**
 * Whether the request was sent by a page that this server gave to a browser on this machine. A
 * page of another site fails by its Origin, a name that was rebound to the loopback by its Host, a
 * client elsewhere by its address, and one behind a proxy by what the proxy adds.
 */
export function isOwnPage(exchange: Exchange, baseUrl: string): boolean {
  const host = exchange.header('host') ?? '';
  const origin = exchange.header('origin') ?? '';
  const site = exchange.header('sec-fetch-site') ?? 'same-origin';
  if (proxyHeaders.some((name) => exchange.header(name) !== undefined)) return false;
  if (!loopbackAddress.test(exchange.clientAddress)) return false;
  if (!loopbackName.test(new URL(baseUrl).hostname)) return false;
  if (!loopbackName.test(host.replace(/:\d+$/, ''))) return false;
  return site === 'same-origin' && (origin === `http://${host}` || origin === `https://${host}`);
}

export const lendVoiceKey = defineRoute({
  method: 'POST',
  path: '/voice/key',
  operationId: 'lendVoiceKey',
  summary: 'Lends a key for talking to the page /voice of a development server',
  tag: 'pages',
  documents: [],
  access: { kind: 'none' },
  cors: 'none',
  replies: { 200: { description: 'The key.', mediaType: 'application/json' } },
  problems: ['not_found', 'forbidden'],
  handle: async ({ exchange, services }) => {
    const { config } = services;
    if (config.mode !== 'dev') throw new Problem('not_found');
    if (!isOwnPage(exchange, config.baseUrl)) throw new Problem('forbidden');
    const api_key = await readVoicePageKey(config);
    if (api_key === null) throw new Problem('not_found');
    return { status: 200, json: { ok: true, api_key }, headers: { 'cache-control': 'no-store' } };
  },
});
