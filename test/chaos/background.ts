// A background response as its client lives it: asked for, then polled until it has ended. What it
// was told is kept in the same form as that of any other call.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Dispatcher, request } from 'undici';
import type { Gateway } from '../harness/gateway.ts';
import { type Call, nothingTold, openAgent, type Told } from './client.ts';
import { readWhole } from './formats.ts';

const POLL_MS = 50;
const END_MS = 90_000;

interface Stored {
  id?: string;
  status?: string;
}

/** Never rejects; incomplete when the gateway was lost before the end. */
export async function inBackground(gateway: Gateway, call: Call): Promise<Told> {
  const begun = performance.now();
  const told = nothingTold();
  const dispatcher = call.dispatcher ?? openAgent(1);
  const authorization = `Bearer ${gateway.dev.api_key}`;
  try {
    const reply = await request(`${gateway.url}/v1/responses`, {
      method: 'POST',
      dispatcher,
      headers: {
        authorization,
        'content-type': 'application/json',
        ...(call.key === undefined ? {} : { 'idempotency-key': call.key }),
      },
      body: JSON.stringify({
        model: call.model ?? 'svc-sim-chat',
        input: call.text,
        background: true,
        ...call.members,
      }),
    });
    let body = await take(reply, told);
    const deadline = performance.now() + END_MS;
    while (isUnderWay(body) && performance.now() < deadline) {
      await sleep(POLL_MS);
      const url = `${gateway.url}/v1/responses/${body.id}`;
      body = await take(await request(url, { dispatcher, headers: { authorization } }), told);
    }
  } catch {
    told.complete = false;
  } finally {
    if (call.dispatcher === undefined) void dispatcher.destroy();
  }
  told.durationMs = performance.now() - begun;
  return told;
}

async function take(reply: Dispatcher.ResponseData, told: Told): Promise<Stored> {
  told.status = reply.statusCode;
  told.headers = reply.headers;
  told.requestId ??= String(reply.headers['x-svc-request-id'] ?? '') || null;
  const text = await reply.body.text();
  const body = JSON.parse(text) as Stored;
  readWhole('responses', text, told);
  told.complete = !isUnderWay(body);
  return body;
}

function isUnderWay({ status }: Stored): boolean {
  return status === 'queued' || status === 'in_progress';
}
