// The vendor's own client, loaded at its first use, and its errors as faults. It tries nothing
// again but a connection that closed, under the same key.
import type Stripe from 'stripe';
import { kindOfStatus } from '../call.ts';
import { type PaymentAccount, PaymentFault } from '../contract.ts';
import { withinDeadline } from '../deadline.ts';

/** Its objects are those of this version, whatever the account's is. */
export const apiVersion = '2026-10-28.endive';
/** A call that was given up ends by itself. */
const abandonedMs = 40_000;

/** One for each account, as long as somebody has that. */
const clients = new WeakMap<PaymentAccount, Promise<Stripe>>();

function clientOf(account: PaymentAccount): Promise<Stripe> {
  const known = clients.get(account);
  if (known !== undefined) return known;
  const made = makeClient(account);
  clients.set(account, made);
  return made;
}

async function makeClient({ baseUrl, secretKey }: PaymentAccount): Promise<Stripe> {
  const { default: StripeClient } = await import('stripe');
  const { protocol, hostname, port } = new URL(baseUrl);
  return new StripeClient(secretKey, {
    apiVersion,
    host: hostname,
    port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port),
    protocol: protocol === 'http:' ? 'http' : 'https',
    maxNetworkRetries: 0,
    timeout: abandonedMs,
    telemetry: false,
  });
}

/** Asks the provider. @throws PaymentFault, with the vendor's error as its cause */
export async function askStripe<T>(
  account: PaymentAccount,
  signal: AbortSignal,
  call: (client: Stripe) => Promise<T>,
): Promise<T> {
  const client = await clientOf(account);
  return withinDeadline(signal, async () => {
    try {
      return await call(client);
    } catch (error) {
      throw faultOf(error as StripeError);
    }
  });
}

/** What of the vendor's errors is read: its classes are known where the package is loaded. */
export interface StripeError extends Error {
  type?: string;
  statusCode?: number;
  code?: string;
  decline_code?: string;
  advice_code?: string;
  param?: string;
  payment_intent?: Stripe.PaymentIntent;
  headers?: Record<string, string>;
}

function faultOf(error: StripeError): PaymentFault {
  const { type, statusCode, code, message } = error;
  if (type === undefined) throw error;
  const kind = statusCode === undefined ? 'unknown' : kindOfStatus(statusCode);
  const seconds = Number(error.headers?.['retry-after']);
  const fault = new PaymentFault(kind, `${type}: ${message.slice(0, 300)}`, {
    providerCode: error.decline_code ?? code ?? null,
    retryAfterMs: seconds > 0 ? seconds * 1_000 : null,
  });
  fault.cause = error;
  return fault;
}

/** The vendor's error behind a fault; null: it is another. */
export function causeOf(error: unknown): StripeError | null {
  return error instanceof PaymentFault && error.cause instanceof Error ? error.cause : null;
}

/**
 * The answer of a call was lost, and will not come under its key. The provider keeps failures
 * there, and refuses the key for other words. What was made has to be looked for.
 */
export function isSpentKey(error: unknown): boolean {
  const cause = causeOf(error);
  if (cause === null) return false;
  const isReplayed = cause.headers?.['idempotent-replayed'] === 'true';
  return cause.type === 'StripeIdempotencyError' || (isReplayed && (cause.statusCode ?? 0) >= 500);
}
