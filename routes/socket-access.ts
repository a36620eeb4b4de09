// Who opens a WebSocket: a key in a header or beside the subprotocol, a browser with a ticket, a
// user with a session header. Never a cookie: handshakes of foreign pages carry it as well.
import { credentialLimits } from '../actors/credentials/limits.ts';
import { openTicket, type Ticket } from '../actors/voice/sealed.ts';
import { withDeadline } from '../db/driver/sql.ts';
import { type Redeemed, redeemTicket, returnTicket } from '../db/voice-tickets.ts';
import type { Exchange } from '../runtime/http/route.ts';
import { Problem } from '../runtime/problem.ts';
import type {
  AccountCaller,
  Services,
  SessionPermit,
  UserCaller,
  VoiceServices,
} from './services.ts';

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

/**
 * Uses a ticket up, and answers with whom `admit` makes of it; null: it is nobody's. Whoever is
 * told to come again may do so with the same ticket.
 * @throws Problem overloaded, and what `admit` throws
 */
export async function useTicket(
  token: string,
  exchange: Exchange,
  services: Pick<Services, 'access' | 'sql' | 'voice'>,
  admit: (admitted: Admitted) => AccountCaller,
): Promise<AccountCaller | null> {
  const ticket = openTicket(services.voice.sealer, token, Date.now());
  if (ticket === null) return null;
  if (services.voice.host.isFull) throw full();
  const redeemed = await redeem(ticket, services);
  if (!redeemed.isFirst || !redeemed.isAllowed) return null;
  const { requestsPerMinute, concurrencyMax } = redeemed;
  const isOfKey = requestsPerMinute !== null && concurrencyMax !== null;
  try {
    // Others came while the database was asked, and more come until this one is accepted.
    const sessionPermit = takeSessionPermit(exchange, services.voice);
    const caller = admit({
      ticket,
      limits: isOfKey ? { requestsPerMinute, concurrencyMax } : null,
    });
    caller.sessionPermit = sessionPermit;
    return caller;
  } catch (refusal) {
    // The refusal is told also where the database is away, and the ticket is lost.
    await withDeadline(returnTicket(services.sql, ticket.id)).catch(() => undefined);
    throw refusal;
  }
}

/** What was read before a key is revoked may not admit behind it: nobody ends that session. */
async function redeem(
  ticket: Ticket,
  { access: { credentials }, sql }: Pick<Services, 'access' | 'sql'>,
): Promise<Redeemed> {
  for (let reads = 1; ; reads += 1) {
    const { changes } = credentials;
    const redeemed = await withDeadline(redeemTicket(sql, ticket));
    const isFresh = changes === credentials.changes;
    if (!redeemed.isFirst || isFresh || reads === credentialLimits.readsMax) return redeemed;
    await withDeadline(returnTicket(sql, ticket.id));
  }
}

/** @throws Problem overloaded */
function takeSessionPermit(exchange: Exchange, voice: VoiceServices): SessionPermit {
  if (!voice.host.admit()) throw full();
  const sessionPermit = { isTaken: false };
  exchange.onFinish(() => {
    if (!sessionPermit.isTaken) voice.host.leave();
  });
  return sessionPermit;
}

function full(): Problem {
  return new Problem('overloaded', { headers: { 'retry-after': '2' } });
}

/** The caller that a user's ticket stands for, but for its permit. */
export function userOf({ ticket }: Admitted): Omit<UserCaller, 'permit'> {
  return {
    kind: 'user',
    accountId: ticket.accountId,
    walletId: ticket.walletId,
    admin: false,
  };
}
