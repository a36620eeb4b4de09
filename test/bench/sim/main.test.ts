// The simulator as a program: it says where it listens, and it ends with its parent or on SIGTERM.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../../bench/sim/main.js', import.meta.url));

interface Started {
  child: ChildProcess;
  port: number;
  line: string;
}

async function started(seed: string, wanted = 0): Promise<Started> {
  const asked = ['--port', String(wanted), '--seed', seed];
  const child = fork(program, asked, { silent: true });
  const line = once(child.stdout ?? assert.fail('no stdout'), 'data');
  const late = { signal: AbortSignal.timeout(60_000) };
  const [message] = (await once(child, 'message', late)) as [{ port: number }];
  return { child, port: message.port, line: String((await line)[0]) };
}

async function firstId(port: number): Promise<unknown> {
  const reply = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    body: '{"model":"simulated-chat-small-2026-01-15","messages":[{"role":"user","content":"hi"}]}',
  });
  return ((await reply.json()) as { id: unknown }).id;
}

test('prints its address, repeats its ids for a seed, ends with its parent', async () => {
  const one = await started('5');
  const other = await started('5');
  assert.equal(one.line, `simulator ready on http://127.0.0.1:${one.port}\n`);
  assert.equal(await firstId(one.port), await firstId(other.port));
  for (const { child } of [one, other]) {
    const exit = once(child, 'exit', { signal: AbortSignal.timeout(60_000) });
    child.disconnect();
    assert.deepEqual(await exit, [0, null]);
  }
});

test('ends on SIGTERM with an open stream', async () => {
  const { child, port } = await started('6');
  const content = '[[sim fault=stall at=1]]';
  const messages = [{ role: 'user', content }];
  const reply = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'simulated-chat-small-2026-01-15', stream: true, messages }),
  });
  const exit = once(child, 'exit', { signal: AbortSignal.timeout(60_000) });
  child.kill('SIGTERM');
  assert.deepEqual(await exit, [0, null]);
  await assert.rejects(reply.text());
});

test('is back on its port after kill -9, whatever connections it had', async () => {
  const first = await started('7');
  // Clients that keep their half of the connection keep the killed one's half as well.
  const clients = [1, 2, 3].map(() => connect({ port: first.port, allowHalfOpen: true }));
  await Promise.all(clients.map((client) => once(client, 'connect')));
  await firstId(first.port);
  const ends = clients.map((client) => once(client.resume(), 'end'));
  first.child.kill('SIGKILL');
  await Promise.all(ends);
  const second = await started('7', first.port);
  assert.equal(second.port, first.port);
  assert.ok(await firstId(second.port));
  for (const client of clients) client.destroy();
  second.child.kill('SIGTERM');
});
