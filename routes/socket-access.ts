// Who opens a WebSocket: a key in a header or beside the subprotocol, a browser with a ticket, a
// user with a session header. Never a cookie: handshakes of foreign pages carry it as well.
import { credentialLimits } from '../actors/credentials/limits.ts';
import { contextOf, payerFrom, payerOf } from '../actors/organization/acting.ts';
import type { OrganizationContext } from '../actors/organization/context.ts';
import { openTicket, type Ticket } from '../actors/voice/sealed.ts';
import { withDeadline } from '../db/driver/sql.ts';
import { type Redeemed, redeemTicket, returnTicket } from '../db/voice/tickets.ts';
import type { Exchange } from '../runtime/http/route.ts';
import { Problem } from '../runtime/problem.ts';
import type { Shown } from './credential.ts';
import { idsOfContext } from './credentials.ts';
import type { Services, SessionPermit, SocketCaller, VoiceServices } from './services.ts';

const keyPrefix = 'svc.key.';

/** What a handshake brings along: what headers show, a ticket, or a key beside the subprotocol. */
export type Credential = Shown | { kind: 'ticket'; token: string };

/** @throws Problem unauthenticated */
export function credentialOf(exchange: Exchange, shown: Shown | null): Credential {
  if (shown !== null) return shown;
  const ticket = new URLSearchParams(exchange.query).get('ticket');
  if (ticket !== null) return { kind: 'ticket', token: ticket };
  const offered = (exchange.header('sec-websocket-protocol') ?? '').split(',');
  const key = offered.map((name) => name.trim()).find((name) => name.startsWith(keyPrefix));
  if (key !== undefined) return { kind: 'key', token: key.slice(keyPrefix.length) };
  throw new Problem('unauthenticated');
}

/** Who made the ticket, and how often the credential that made it may be used. */
export interface Admitted {
  ticket: Ticket;
  limits: { requestsPerMinute: number; concurrencyMax: number };
  /** Models of the key that made it; null: all. */
  allowedModels: ReadonlySet<string> | null;
  /** As whom it was made, and who pays now. */
  acting: TicketActing;
}

interface TicketActing {
  accountId: string;
  personId: string;
  organization: OrganizationContext | null;
  walletId: string;
  fallbackWalletId: string | null;
  ids: readonly string[];
}

function actingOf({ accountId, walletId }: Ticket, redeemed: Redeemed): TicketActing {
  const { context, keyWalletId } = redeemed;
  if (context === null) {
    const personally = { accountId, personId: accountId, organization: null };
    return { ...personally, walletId, fallbackWalletId: null, ids: [accountId] };
  }
  const organization = contextOf(context);
  const member = { accountId, personId: context.personId ?? accountId, organization };
  const ids = idsOfContext(context);
  if (keyWalletId === null) return { ...member, ...payerOf(organization), ids };
  return { ...member, ...payerFrom(organization, keyWalletId, redeemed.hasKeyLimit), ids };
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
  admit: (admitted: Admitted) => SocketCaller,
): Promise<SocketCaller | null> {
  const ticket = openTicket(services.voice.sealer, token, Date.now());
  if (ticket === null) return null;
  if (services.voice.host.isFull) throw full();
  const redeemed = await redeem(ticket, services);
  if (!redeemed.isFirst || !redeemed.isAllowed) return null;
  const { requestsPerMinute, concurrencyMax } = redeemed;
  const allowedModels = redeemed.allowedModels && new Set(redeemed.allowedModels);
  try {
    // Others came while the database was asked, and more come until this one is accepted.
    const sessionPermit = takeSessionPermit(exchange, services.voice);
    const limits = { requestsPerMinute, concurrencyMax };
    const acting = actingOf(ticket, redeemed);
    const caller = admit({ ticket, limits, allowedModels, acting });
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
    const { mark } = credentials;
    const redeemed = await withDeadline(redeemTicket(sql, ticket));
    const { context } = redeemed;
    const ids = [...idsOf(ticket), ...(context === null ? [] : idsOfContext(context))];
    const isFresh = !credentials.hasChanged(ids, mark);
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

function idsOf({ keyId, signedInId, accountId }: Ticket): string[] {
  return [keyId, signedInId, accountId].filter((id) => id !== null);
}
