// Who opens a WebSocket: a key in a header or beside the subprotocol, a browser with a ticket, a
// user with a session header. Never a cookie: handshakes of foreign pages carry it as well.
import { openTicket, type Ticket } from '../actors/voice/sealed.ts';
import { withDeadline } from '../db/sql.ts';
import { redeemTicket } from '../db/voice-tickets.ts';
import type { Exchange } from '../runtime/http/route.ts';
import { Problem } from '../runtime/problem.ts';
import type { Services, UserCaller } from './services.ts';

const keyPrefix = 'svc.key.';

/** What a handshake brings along. */
export type Credential =
  | { kind: 'key'; token: string }
  | { kind: 'ticket'; token: string }
  | { kind: 'session' };

/** @throws Problem unauthenticated */
export function credentialOf(exchange: Exchange, headerToken: string | null): Credential {
  if (headerToken !== null) return { kind: 'key', token: headerToken };
  const ticket = new URLSearchParams(exchange.query).get('ticket');
  if (ticket !== null) return { kind: 'ticket', token: ticket };
  const offered = (exchange.header('sec-websocket-protocol') ?? '').split(',');
  const key = offered.map((name) => name.trim()).find((name) => name.startsWith(keyPrefix));
  if (key !== undefined) return { kind: 'key', token: key.slice(keyPrefix.length) };
  if (exchange.header('x-svc-session') !== undefined) return { kind: 'session' };
  throw new Problem('unauthenticated');
}

/** Who made the ticket, and how often a key may be used. */
export interface Admitted {
  ticket: Ticket;
  limits: { requestsPerMinute: number; concurrencyMax: number } | null;
}

/** Uses a ticket up; null: it is nobody's. @throws Problem overloaded */
export async function admitTicket(token: string, services: Services): Promise<Admitted | null> {
  const ticket = openTicket(services.voice.sealer, token, Date.now());
  if (ticket === null) return null;
  // Whoever is refused for want of room may come back with the same ticket.
  if (services.voice.host.isFull) {
    throw new Problem('overloaded', { headers: { 'retry-after': '2' } });
  }
  const redeemed = await withDeadline(redeemTicket(services.sql, ticket));
  if (!redeemed.isFirst || !redeemed.isAllowed) return null;
  const { requestsPerMinute, concurrencyMax } = redeemed;
  if (requestsPerMinute === null || concurrencyMax === null) return { ticket, limits: null };
  return { ticket, limits: { requestsPerMinute, concurrencyMax } };
}

/** The caller that a user's ticket stands for, but for its place. */
export function userOf({ ticket }: Admitted): Omit<UserCaller, 'place'> {
  return {
    kind: 'user',
    accountId: ticket.accountId,
    walletId: ticket.walletId,
    admin: false,
  };
}
