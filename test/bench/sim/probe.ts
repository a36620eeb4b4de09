// What the tests of the simulator's families ask it about itself, and requests without a client.
import assert from 'node:assert/strict';
import type { RunningSim } from '../../../bench/sim/server.ts';

interface SimStats {
  started: number;
  finished: number;
  aborted: number;
  open: number;
}

export async function statsOf(sim: RunningSim): Promise<SimStats> {
  const reply = await fetch(`http://127.0.0.1:${sim.port}/sim/stats`);
  return (await reply.json()) as SimStats;
}

export async function eventually(check: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await check())) {
    assert.ok(performance.now() < deadline, 'not within 30 seconds');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** `[[sim call=name:…]]` arguments. */
export function encoded(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return Buffer.from(text).toString('base64url');
}

export async function post(
  sim: RunningSim,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`http://127.0.0.1:${sim.port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

/** The parsed `data:` of every event of a stream, with the event's name. */
export async function eventsOf(reply: Response): Promise<{ name: string; data: unknown }[]> {
  const blocks = (await reply.text())
    .split(/\r?\n\r?\n/)
    .filter((block) => block.includes('data: '));
  return blocks.map((block) => {
    const name = /^event: (.*)$/m.exec(block)?.[1] ?? '';
    return { name, data: JSON.parse(/^data: (.*?)\r?$/m.exec(block)?.[1] ?? 'null') as unknown };
  });
}
