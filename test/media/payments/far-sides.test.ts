// What no simulator does: providers that never answer, answer what nobody understands, or have more
// to list than is read at once.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { paymentAdapters } from '../../../media/payments/adapters.ts';
import {
  listedMin,
  type PaymentAccount,
  PaymentFault,
  type PaymentKind,
} from '../../../media/payments/contract.ts';

const servers: Server[] = [];
after(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

async function accountAt(kind: PaymentKind, answer: RequestListener): Promise<PaymentAccount> {
  const server = createServer(answer);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}`;
  return { kind, baseUrl, secretKey: 'canary-secret', keyId: 'rzp_1', automaticTax: false };
}

const signal = new AbortController().signal;
const kinds = ['stripe', 'razorpay'] as const;

/** The fault; it never tells the key. */
async function faultOf(work: Promise<unknown>): Promise<PaymentFault> {
  const error = await work.then(
    () => assert.fail('it answered'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof PaymentFault, String(error));
  assert.ok(!error.message.includes('canary-secret'));
  return error;
}

test('a call that is given up is a fault at once, and may have been done', async () => {
  for (const kind of kinds) {
    const account = await accountAt(kind, () => undefined);
    const controller = new AbortController();
    const looked = paymentAdapters[kind].look(account, 'x', controller.signal);
    setTimeout(() => controller.abort(), 50);
    assert.equal((await faultOf(looked)).kind, 'unknown');
  }
});

test('an answer that nobody understands is none', async () => {
  const answers = ['', 'no JSON', '[]', '{}', '{"id":7}', '<html>'];
  for (const text of answers) {
    const account = await accountAt('razorpay', (_request, response) => response.end(text));
    const looked = paymentAdapters.razorpay.look(account, 'order_1', signal);
    assert.equal((await faultOf(looked)).kind, 'unknown', text);
  }
  const account = await accountAt('stripe', (_request, response) => response.end('no JSON'));
  const looked = paymentAdapters.stripe.look(account, 'cs_1', signal);
  assert.equal((await faultOf(looked)).kind, 'unknown');
});

test('how long a provider wants to be left alone is told', async () => {
  for (const kind of kinds) {
    const account = await accountAt(kind, (_request, response) => {
      response.writeHead(429, { 'retry-after': '7' }).end('{"error":{"code":"x"}}');
    });
    const fault = await faultOf(paymentAdapters[kind].look(account, 'x', signal));
    assert.deepEqual([fault.kind, fault.retryAfterMs], ['slow_down', 7_000]);
  }
});

/** Events `evt_0`, `evt_1`, …, one every few seconds, as their vendor lists them. */
function eventsFrom(firstSeconds: number, count: number, everySeconds = 10): RequestListener {
  const all = Array.from({ length: count }, (_, index) => ({
    id: `evt_${index}`,
    object: 'event',
    type: 'payment_intent.succeeded',
    created: firstSeconds + everySeconds * index,
    data: { object: { object: 'payment_intent', id: `pi_${index}` } },
  })).reverse();
  return (request, response) => {
    const { searchParams: query } = new URL(request.url ?? '', 'http://x');
    const from = Number(query.get('created[gte]'));
    const to = Number(query.get('created[lte]'));
    const fitting = all.filter(({ created }) => created >= from && created <= to);
    const after = query.get('starting_after');
    const start = after === null ? 0 : fitting.findIndex(({ id }) => id === after) + 1;
    const data = fitting.slice(start, start + Number(query.get('limit')));
    const has_more = start + data.length < fitting.length;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ object: 'list', url: '/v1/events', data, has_more }));
  };
}

test('of more events than are read at once the oldest come first, and none is lost', async () => {
  const count = 2_000;
  const first = Math.floor(Date.now() / 1_000) - 10 * count;
  const account = await accountAt('stripe', eventsFrom(first, count));
  // Just before the first of them, and after a long time without any.
  for (const quietSeconds of [0, 100 * 24 * 3_600]) {
    const seen = new Set<string>();
    let since = new Date((first - quietSeconds) * 1_000);
    for (let reads = 0; seen.size < count; reads += 1) {
      assert.ok(reads < 5, `${seen.size} after ${reads} reads`);
      const listed = await paymentAdapters.stripe.list(account, 'events', since, signal);
      const times = listed.map(({ at }) => at.getTime());
      const isAll = listed.at(-1)?.eventId === `evt_${count - 1}`;
      assert.ok(isAll || listed.length >= listedMin, String(listed.length));
      assert.ok(listed.length <= 2 * listedMin);
      assert.deepEqual(
        times,
        times.toSorted((left, right) => left - right),
      );
      for (const { eventId } of listed) seen.add(eventId);
      since = listed.at(-1)?.at ?? since;
    }
  }
});

test('so many events of one second are read together', async () => {
  const second = Math.floor(Date.now() / 1_000) - 100;
  const account = await accountAt('stripe', eventsFrom(second, 700, 0));
  const since = new Date((second - 5) * 1_000);
  const listed = await paymentAdapters.stripe.list(account, 'events', since, signal);
  assert.equal(listed.length, 700);
});
