// The callers of benches: each keeps its connection, and sends each request as often as was asked
// for. What was answered is what is told.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { Asked } from '../../../bench/load/asked.ts';
import type { CallersJob, CallersResult } from '../../../bench/load/callers.ts';

const timeoutMs = 10_000;

let server: Server;
let callers: Asked<CallersJob>;
let port = 0;
/** The client ports by which a path was asked for, in order. */
let asked = new Map<string, number[]>();

before(async () => {
  server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.set(path, [...(asked.get(path) ?? []), request.socket.remotePort ?? 0]);
    response.statusCode = path.startsWith('/no') ? 404 : 200;
    setTimeout(() => response.end('here'), path === '/slow' ? 500 : 0);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
  callers = new Asked<CallersJob>('callers.js');
});
after(() => {
  callers.stop();
  server.closeAllConnections();
  server.close();
});

function requestsOf(paths: readonly string[]): string[] {
  return paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
}

function run(job: CallersJob): Promise<CallersResult> {
  asked = new Map();
  return callers.ask<CallersResult>(job, timeoutMs);
}

test('a caller keeps its connection, and each request is sent once a round', async () => {
  const paths = Array.from({ length: 10 }, (_, index) => `/${index}`);
  const requests = requestsOf(paths);
  const job = { kind: 'closed', port, requests, connections: 4, pauseMs: 0 } as const;
  const result = await run({ ...job, rounds: 3, durationMs: timeoutMs });
  assert.equal(result.answers, 30);
  assert.equal(result.byStatus.get(200)?.count, 30);
  assert.equal(result.failure, '');
  const ports = paths.map((path) => asked.get(path) ?? []);
  assert.deepEqual(
    ports.map((of) => [of.length, new Set(of).size]),
    paths.map(() => [3, 1]),
  );
  assert.equal(new Set(ports.flat()).size, 4);
  assert.deepEqual(ports[0], ports[4]);
});

test('without a number of rounds it ends when its time is over', async () => {
  const requests = requestsOf(['/a', '/b']);
  const job = { kind: 'closed', port, requests, connections: 2, pauseMs: 20 } as const;
  const { answers, elapsedMs } = await run({ ...job, rounds: null, durationMs: 300 });
  assert.ok(answers >= 4 && answers <= 32, `${answers} answers`);
  assert.ok(elapsedMs >= 300, `${elapsedMs} ms`);
});

test('offered requests leave when they are due, and each status is counted', async () => {
  const requests = requestsOf(['/yes', '/no']);
  const job = { kind: 'offered', port, requests, connectionsMax: 50 } as const;
  const result = await run({ ...job, perSecond: 200, durationMs: 500 });
  assert.equal(result.answers, 100);
  assert.equal(result.unsent, 0);
  assert.equal(result.byStatus.get(200)?.count, 50);
  assert.equal(result.byStatus.get(404)?.count, 50);
  assert.match(result.failure, /^status 404: here/);
  assert.ok(result.elapsedMs >= 490, `${result.elapsedMs} ms`);
});

test('requests without a connection are told, and times count from when they are due', async () => {
  const requests = requestsOf(['/slow']);
  const job = { kind: 'offered', port, requests, connectionsMax: 5 } as const;
  const { answers, unsent, byStatus } = await run({ ...job, perSecond: 100, durationMs: 200 });
  assert.equal(answers, 5);
  assert.equal(unsent, 15);
  assert.ok((byStatus.get(200)?.p50 ?? 0) >= 499);
});
