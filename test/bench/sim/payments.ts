// What tests of the simulated payment providers share: a server that takes webhooks, and the
// vendors' own clients, unpatched.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Razorpay from 'razorpay';
import Stripe from 'stripe';
import type { RunningSim } from '../../../bench/sim/server.ts';

export interface Hook {
  body: Buffer;
  headers: Record<string, string>;
  event: Record<string, unknown>;
  /** As the provider calls it. */
  type: string;
}

export interface HookServer {
  url: string;
  taken: Hook[];
  /** The statuses of the next answers; 200 when there are none. */
  answers: number[];
  close(): void;
}

export async function takeHooks(): Promise<HookServer> {
  const taken: Hook[] = [];
  const answers: number[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces);
    const event = JSON.parse(body.toString()) as Record<string, unknown>;
    const headers = request.headers as Record<string, string>;
    const status = answers.shift() ?? 200;
    taken.push({ body, headers, event, type: String(event.type ?? event.event) });
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}/hooks`, taken, answers, close };
}

export const webhookSecret = 'whsec_test';

export function stripeAt({ port }: Pick<RunningSim, 'port'>): Stripe {
  return new Stripe('sk_test_right', {
    host: '127.0.0.1',
    port,
    protocol: 'http',
    maxNetworkRetries: 0,
    telemetry: false,
  });
}

interface Pointable {
  api: { rq: { defaults: { baseURL: string } } };
}

export function razorpayAt({ port }: Pick<RunningSim, 'port'>): Razorpay {
  const client = new Razorpay({ key_id: 'rzp_test_1', key_secret: 'right-secret' });
  // It takes no address: its own HTTP client does.
  (client as unknown as Pointable).api.rq.defaults.baseURL = `http://127.0.0.1:${port}`;
  return client;
}

/** Asks the simulator for something at its own endpoints. */
export async function tell(
  { port }: Pick<RunningSim, 'port'>,
  path: string,
  body: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  return { status: reply.status, ...((await reply.json()) as Record<string, unknown>) };
}

/** Waits until a condition holds. */
export async function until(condition: () => boolean, timeoutMs = 10_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`condition not met in ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
