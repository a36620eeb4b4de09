// The bare relay must do honestly what it is the floor of: whole streams, errors, lost clients,
// and a slow client that does not make it buffer without bound.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Contender, chatTarget } from '../../bench/contender.ts';
import { startBare } from '../../bench/contenders/bare.ts';
import { type Simulator, startSimulator } from '../../bench/contenders/simulator.ts';
import { Generator } from '../../bench/load/generator.ts';
import { rssBytesOf } from '../../bench/proc.ts';

let simulator: Simulator;
let bare: Contender;

before(async () => {
  simulator = await startSimulator();
  bare = await startBare(simulator.port, 2);
});
after(async () => {
  await bare?.stop();
  await simulator?.stop();
});

async function ask(port: number, orders: string, stream: boolean): Promise<Response> {
  const target = chatTarget(bare, orders, stream);
  return fetch(`http://127.0.0.1:${port}${target.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: target.body,
    signal: AbortSignal.timeout(60_000),
  });
}

interface Stats {
  models: Record<string, { active: number; aborted: number }>;
}

async function stats(): Promise<Stats> {
  const reply = await fetch(`http://127.0.0.1:${simulator.port}/sim/stats`);
  return (await reply.json()) as Stats;
}

test('streams, answers and errors pass as the upstream gave them', async () => {
  for (const [orders, stream] of [
    ['tokens=500', true],
    ['tokens=3', false],
    ['status=429', false],
  ] as const) {
    const [direct, relayed] = [
      await ask(simulator.port, orders, stream),
      await ask(bare.port, orders, stream),
    ];
    assert.equal(relayed.status, direct.status);
    assert.equal(relayed.headers.get('content-type'), direct.headers.get('content-type'));
    const tokens = (text: string): string[] => text.match(/ t\d+/g) ?? [];
    const [expected, text] = [await direct.text(), await relayed.text()];
    assert.deepEqual(tokens(text), tokens(expected));
    assert.equal(text.endsWith(expected.slice(-14)), true);
  }
});

test('a client that leaves ends the upstream call', async () => {
  const abort = new AbortController();
  const target = chatTarget(bare, 'tokens=1000 gap_ms=50', true);
  const reply = await fetch(`http://127.0.0.1:${bare.port}${target.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: target.body,
    signal: abort.signal,
  });
  await reply.body?.getReader().read();
  abort.abort();
  for (let wait = 0; wait < 1_500; wait++) {
    const models = Object.values((await stats()).models);
    if (models.some((model) => model.aborted > 0)) return;
    await sleep(20);
  }
  assert.fail('the simulator never saw the connection end');
});

test('a client that does not read pauses its upstream instead of filling memory', async () => {
  const target = chatTarget(bare, 'tokens=400000', true);
  const before = rssBytesOf(bare.pids());
  const socket = connect(bare.port, '127.0.0.1');
  try {
    socket.pause();
    socket.write(
      `POST ${target.path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n` +
        `content-length: ${Buffer.byteLength(target.body)}\r\n\r\n${target.body}`,
    );
    await sleep(3_000);
    const grownMiB = (rssBytesOf(bare.pids()) - before) / 2 ** 20;
    assert.ok(grownMiB < 40, `grew by ${grownMiB.toFixed(0)} MiB of an answer of 130`);
  } finally {
    socket.destroy();
  }
});

test('the load generator counts events and reports a refusal in words', async () => {
  const generator = new Generator();
  try {
    const job = {
      kind: 'load',
      connections: 4,
      requestsMax: 40,
      durationMs: null,
      spreadMs: 0,
      eventsMin: 20,
      seed: 1,
    } as const;
    const good = await generator.load(
      { ...job, target: chatTarget(bare, 'tokens=20', true) },
      60_000,
    );
    assert.deepEqual([good.requests, good.failed, good.events], [40, 0, 40 * 23]);
    const bad = await generator.load(
      { ...job, target: chatTarget(bare, 'status=503', true) },
      60_000,
    );
    assert.equal(bad.failed, 40);
    assert.match(bad.failure, /status 503/);
  } finally {
    generator.stop();
  }
});
