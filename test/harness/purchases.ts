// Buying credits as a client does, and what the simulated providers are told.
import assert from 'node:assert/strict';
import type { TestAccount } from './account.ts';

export interface PurchaseTold {
  id: string;
  status: string;
  kind: string;
  provider: string | null;
  credits_microcredits: number;
  price_cents: number;
  tax_cents: number;
  refunded_cents: number;
  reversed_microcredits: number;
  currency: string;
  dispute: { state: string } | null;
  failure_code: string | null;
  completed_at: string | null;
}

export type CheckoutTold =
  | { type: 'redirect'; url: string; expires_at: string }
  | { type: 'razorpay'; key_id: string; order_id: string; amount: number; currency: string };

export interface Answered {
  status: number;
  headers: Headers;
  body: {
    purchase: PurchaseTold;
    checkout: CheckoutTold | null;
    wallet: { available_microcredits: number };
    error: { code: string; details?: Record<string, unknown> };
  };
}

export async function callAs(
  { baseUrl, sessionToken }: Pick<TestAccount, 'baseUrl' | 'sessionToken'>,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answered> {
  const response = await fetch(baseUrl + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'x-svc-session': sessionToken,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Answered['body'];
  return { status: response.status, headers: response.headers, body: answer };
}

/** A new purchase of the first package. */
export async function buy(
  account: TestAccount,
  wanted: Record<string, unknown> = {},
  key?: string,
): Promise<Answered> {
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
  const body = { package_slug: 'starter', provider: 'stripe', ...wanted };
  return callAs(account, '/api/me/purchases', body, headers);
}

export const verify = (account: TestAccount, proof: Record<string, unknown>) =>
  callAs(account, '/api/me/purchases/verify', proof);

export const readPurchase = (account: TestAccount, id: string) =>
  callAs(account, `/api/me/purchases/${id}`);

/** Pays a checkout of Stripe's simulator as its page would. */
export async function payAt(checkout: CheckoutTold | null): Promise<void> {
  assert.equal(checkout?.type, 'redirect');
  const url = new URL(checkout?.type === 'redirect' ? checkout.url : '');
  url.searchParams.set('sim', 'pay');
  const response = await fetch(url, { redirect: 'manual' });
  await response.arrayBuffer();
  assert.ok(response.status < 400, `paying is answered ${response.status}`);
}

/** Pays an order of Razorpay's simulator; the members that a client verifies with. */
export async function payOrder(
  simulatorUrl: string,
  orderId: string,
): Promise<Record<string, string>> {
  const response = await fetch(`${simulatorUrl}/sim/razorpay/pay`, {
    method: 'POST',
    body: JSON.stringify({ order_id: orderId }),
  });
  assert.equal(response.status, 200);
  return (await response.json()) as Record<string, string>;
}

/** Tells the simulator what goes wrong next, or what becomes of a payment. */
export async function tellPayments(
  simulatorUrl: string,
  order: Record<string, unknown>,
): Promise<void> {
  const response = await fetch(`${simulatorUrl}/sim/payments`, {
    method: 'POST',
    body: JSON.stringify(order),
  });
  const text = await response.text();
  assert.equal(response.status, 200, text);
}

/** Waits until the purchase is in this state, which nobody asks about. */
export async function becomes(
  account: TestAccount,
  id: string,
  status: string,
  withinMs = 20_000,
): Promise<PurchaseTold> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const { body } = await readPurchase(account, id);
    if (body.purchase.status === status) return body.purchase;
    assert.ok(performance.now() < deadline, `${id} is ${body.purchase.status}, not ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
