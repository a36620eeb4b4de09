// The calls of Razorpay's API that payments need, and its objects as far as they are read.
import * as v from 'valibot';
import { type ApiCall, callApi } from '../call.ts';
import { type PaymentAccount, PaymentFault } from '../contract.ts';

const cents = v.pipe(v.number(), v.integer(), v.minValue(0));
const seconds = v.pipe(v.number(), v.minValue(0), v.maxValue(1e11));
const text = v.fallback(v.nullish(v.string()), null);

export const orderSchema = v.object({
  id: v.string(),
  amount: cents,
  currency: v.string(),
  status: v.string(),
  receipt: text,
  notes: v.unknown(),
  created_at: seconds,
});

export const paymentSchema = v.object({
  id: v.string(),
  amount: cents,
  currency: v.string(),
  status: v.string(),
  order_id: text,
  captured: v.fallback(v.nullish(v.boolean()), false),
  method: text,
  vpa: text,
  wallet: text,
  bank: text,
  contact: text,
  card: v.fallback(
    v.nullish(v.object({ name: text, last4: text, network: text, issuer: text, type: text })),
    null,
  ),
  error_code: text,
  error_reason: text,
  created_at: seconds,
});

export const refundSchema = v.object({
  id: v.string(),
  amount: cents,
  payment_id: v.string(),
  status: v.string(),
  notes: v.unknown(),
  created_at: seconds,
});

export const disputeSchema = v.object({
  id: v.string(),
  payment_id: v.string(),
  amount: cents,
  status: v.string(),
  phase: v.string(),
  created_at: seconds,
});

export type RazorpayOrder = v.InferOutput<typeof orderSchema>;
export type RazorpayPayment = v.InferOutput<typeof paymentSchema>;
export type RazorpayRefund = v.InferOutput<typeof refundSchema>;
export type RazorpayDispute = v.InferOutput<typeof disputeSchema>;

export async function get<S extends v.GenericSchema>(
  account: PaymentAccount,
  path: string,
  schema: S,
  signal: AbortSignal,
): Promise<v.InferOutput<S>> {
  return ask(account, { method: 'GET', path }, schema, signal);
}

export async function post<S extends v.GenericSchema>(
  account: PaymentAccount,
  sent: { path: string; body: Record<string, unknown>; headers?: Record<string, string> },
  schema: S,
  signal: AbortSignal,
): Promise<v.InferOutput<S>> {
  return ask(account, { method: 'POST', ...sent }, schema, signal);
}

async function ask<S extends v.GenericSchema>(
  { baseUrl, keyId, secretKey }: PaymentAccount,
  {
    path,
    headers,
    ...sent
  }: Omit<ApiCall, 'url' | 'headers'> & {
    path: string;
    headers?: Record<string, string>;
  },
  schema: S,
  signal: AbortSignal,
): Promise<v.InferOutput<S>> {
  if (keyId === null) throw new PaymentFault('misconfigured', 'razorpay needs a key id');
  const basic = Buffer.from(`${keyId}:${secretKey}`).toString('base64');
  const authorized = { authorization: `Basic ${basic}`, ...headers };
  const answer = await callApi({ ...sent, url: baseUrl + path, headers: authorized }, signal);
  const read = v.safeParse(schema, answer);
  if (read.success) return read.output;
  // It was done, whatever it says of it.
  throw new PaymentFault('unknown', 'the answer is not understood');
}

const pageMax = 100;
/** So many of a list are read at once. */
const listedMax = 2_000;

/** All of a list, newest first as the provider has it. */
export async function listAll<S extends v.GenericSchema>(
  account: PaymentAccount,
  path: string,
  query: Record<string, string>,
  schema: S,
  signal: AbortSignal,
): Promise<v.InferOutput<S>[]> {
  const page = v.object({ items: v.array(schema) });
  const found: v.InferOutput<S>[] = [];
  while (found.length < listedMax) {
    const paged = { ...query, count: String(pageMax), skip: String(found.length) };
    const asked = `${path}?${new URLSearchParams(paged)}`;
    const { items } = await get(account, asked, page, signal);
    found.push(...items);
    if (items.length < pageMax) return found;
  }
  return found;
}
