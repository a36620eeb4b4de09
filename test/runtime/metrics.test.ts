// Metrics of several threads, added up and read over real HTTP; and that logs hold no credential.
import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import { test } from 'node:test';
import { createRequestMetrics } from '../../actors/billed-request/metrics.ts';
import { createWalletMetrics } from '../../actors/wallet/metrics.ts';
import { redact } from '../../runtime/log.ts';
import { createMetrics, renderMetrics, startMetricsServer } from '../../runtime/metrics.ts';

test('two threads are added up in one Prometheus text', async () => {
  const threads = [createMetrics('shard-0'), createMetrics('shard-1')];
  for (const metrics of threads) {
    metrics.request('/v1/chat/completions', 'POST', 200, 0.02);
    metrics.observeStreams(() => 4);
    createRequestMetrics(metrics.registry).firstEvent(0.004);
    const wallet = createWalletMetrics(metrics.registry);
    wallet.batch(64, 0.003);
    wallet.operation('hold', 'held');
    metrics.observeActors(() => [
      {
        node: 1,
        kind: 'wallet',
        parent: 'money',
        alive: 3,
        mailboxLength: 2,
        messagesHandled: 9,
        crashes: 0,
        refused: 0,
      },
    ]);
  }
  const server = await startMetricsServer({
    port: 0,
    host: '127.0.0.1',
    collect: async () => structuredClone(await Promise.all(threads.map((each) => each.collect()))),
  });
  try {
    const reply = await fetch(`http://127.0.0.1:${server.port}/metrics`);
    const body = await reply.text();
    assert.equal(reply.status, 200);
    const lines = [
      'tollgate_requests_total{route="/v1/chat/completions",method="POST",status="200"} 2',
      'tollgate_open_streams 8',
      'tollgate_first_event_seconds_bucket{le="0.005"} 2',
      'tollgate_wallet_batch_length_sum 128',
      'tollgate_wallet_operations_total{operation="hold",outcome="held"} 2',
      'tollgate_actors{kind="wallet"} 6',
      'tollgate_mailbox_length{kind="wallet"} 4',
    ];
    for (const line of lines) assert.ok(body.includes(`${line}\n`), `${line}\nin\n${body}`);
    assert.match(body, /tollgate_event_loop_delay_seconds\{.*thread="shard-1".*\}/);
    assert.equal((await fetch(`http://127.0.0.1:${server.port}/other`)).status, 404);
  } finally {
    await server.close();
    for (const metrics of threads) metrics.stop();
  }
});

test('connections that cannot be taken end nothing', async () => {
  const metrics = createMetrics('main');
  const collect = async () => [await metrics.collect()];
  const server = await startMetricsServer({ port: 0, host: '127.0.0.1', collect });
  const listeners: Server[] = [];
  subscribe('http.server.request.start', (message) => {
    listeners.push((message as { server: Server }).server);
  });
  const scrape = async () => (await fetch(`http://127.0.0.1:${server.port}/metrics`)).status;
  try {
    assert.equal(await scrape(), 200);
    // As net.Server tells it when accept(2) fails.
    for (let count = 0; count < 3; count += 1) listeners[0]?.emit('error', new Error('EMFILE'));
    assert.equal(await scrape(), 200);
    assert.equal(listeners.length, 2);
  } finally {
    await server.close();
    metrics.stop();
  }
});

test('methods that nobody defined are counted together', async () => {
  const metrics = createMetrics('shard-0');
  try {
    for (const method of ['GET', 'get', 'BREW', 'X'.repeat(15_000)]) {
      metrics.request('none', method, 405, 0.001);
    }
    const lines = (await renderMetrics([await metrics.collect()]))
      .split('\n')
      .filter((line) => line.startsWith('tollgate_requests_total{'));
    assert.deepEqual(lines, [
      'tollgate_requests_total{route="none",method="GET",status="405"} 1',
      'tollgate_requests_total{route="none",method="other",status="405"} 3',
    ]);
  } finally {
    metrics.stop();
  }
});

test('a log line loses every credential and keeps its JSON', () => {
  const line = JSON.stringify({
    a: 'Bearer abcdefghijkl',
    b: 'key svc_live_0123456789abcdef, and svc_test_0123456789',
    c: 'postgres://user:hunter22@host/db',
    d: 'sk-proj-0123456789',
    e: 'nothing to hide: 12:30',
    f: 'http://127.0.0.1:11434/v1 and http://host:8787',
    g: 'postgres://user:123456789@host/db',
  });
  const cut = redact(line);
  for (const leak of ['abcdefghijkl', '0123456789', 'hunter22', '123456789'])
    assert.ok(!cut.includes(leak), cut);
  assert.equal(JSON.parse(cut).f, 'http://127.0.0.1:11434/v1 and http://host:8787');
  assert.equal(JSON.parse(cut).e, 'nothing to hide: 12:30');
  assert.match(JSON.parse(cut).b, /^key svc_live_\[redacted\], and svc_test_\[redacted\]$/);
});
