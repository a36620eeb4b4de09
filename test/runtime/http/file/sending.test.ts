// Files to clients that read slowly, in fits and starts, or not at all. Nothing is lost, and nobody
// who takes anything is cut. What is in memory does not grow. curl is a client too.
import type { HttpResponse } from 'uWebSockets.js';
import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createFileTable, FileSending } from '../../../../runtime/http/file/sending.ts';
import { fixedLimits } from '../../../../runtime/limits.ts';
import { makeCertificate, withoutOpenssl } from '../../../harness/certificate.ts';
import { createRandom, testSeed } from '../../../harness/seed.ts';
import { until } from '../serving.ts';
import { assertBytes, bytesAt, drain, type FileServing, mib, open, serveFiles } from './files.ts';

let serving: FileServing;
before(async () => {
  console.log(`# files: seed ${testSeed}`);
  serving = await serveFiles({ limits: { fileStalledMs: 1_000, tickMs: 20 } });
});
after(() => serving.stop());
beforeEach(() => {
  serving.read = (_from, _to, pieces) => pieces();
  Object.assign(serving.readers, { opened: 0, closed: 0, pieces: 0, ranges: [] });
});

const range = (from: number, to: number) => ({ range: `bytes=${from}-${to - 1}` });

test('200 readers in fits and starts get every byte, once and in order', async () => {
  const random = createRandom(testSeed);
  const below = (max: number) => Math.floor(random() * max);
  const readOne = async () => {
    const from = below(12 * mib);
    const to = from + 4.25 * mib + below(mib / 2);
    const opened = await open(serving.port, range(from, to));
    // The socket is full by now, and uWS has what it could not send.
    await sleep(below(300));
    let next = below(mib);
    const { bytes, isWhole } = await drain(opened, from, (received) => {
      if (received < next) return null;
      next += below(2 * mib);
      return sleep(below(30));
    });
    assert.ok(isWhole && bytes === to - from, `${bytes} of ${to - from}`);
  };
  for (let round = 0; round < 2; round += 1) {
    await Promise.all(Array.from({ length: 100 }, readOne));
  }
  await until(() => serving.server.counts().exchanges === 0);
  assert.deepEqual([serving.readers.opened, serving.readers.closed], [200, 200]);
});

test('so do those who come over TLS', { skip: withoutOpenssl }, async () => {
  const certificate = await makeCertificate();
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-file-'));
  const [certPath, keyPath] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  await writeFile(certPath, certificate.cert);
  await writeFile(keyPath, certificate.key);
  const secure = await serveFiles({ tls: { certPath, keyPath }, limits: { tickMs: 20 } });
  const read = async (index: number) => {
    const from = 12_345 * index;
    const opened = await open(secure.port, range(from, 7 * mib), certificate.cert);
    await sleep(200);
    let next = 0;
    const read = await drain(opened, from, (bytes) => {
      if (bytes < next) return null;
      next += mib / 2;
      return sleep(index);
    });
    assert.deepEqual(read, { bytes: 7 * mib - from, isWhole: true });
  };
  try {
    await Promise.all(Array.from({ length: 10 }, (_, index) => read(index)));
  } finally {
    await secure.stop();
    await certificate.remove();
    await rm(folder, { recursive: true });
  }
});

function collected(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  return process.memoryUsage().arrayBuffers;
}

test('200 clients that read nothing have a piece each in memory, and free it', async () => {
  const before = collected();
  const clients = await Promise.all(Array.from({ length: 200 }, () => open(serving.port)));
  let pieces = -1;
  await until(() => {
    const isStill = pieces === serving.readers.pieces;
    pieces = serving.readers.pieces;
    // What was collected may be swept later.
    return isStill && (collected() - before) / clients.length < 384 * 1024;
  });
  for (const { request } of clients) request.destroy();
  await until(() => serving.readers.closed === 200);
  await until(() => serving.server.counts().exchanges === 0);
});

test('a client that takes nothing is cut, one that takes little is not', async () => {
  const idle = await open(serving.port);
  const slow = await open(serving.port);
  const begun = performance.now();
  // Under a megabyte a second: uWS would tell of room every second or two.
  const reading = drain(slow, 0, (bytes) => (bytes < 3 * mib ? sleep(60) : null));
  await until(() => serving.readers.closed === 1);
  const cutMs = performance.now() - begun;
  assert.ok(cutMs > 900, `cut after ${cutMs} ms`);
  const { bytes, isWhole } = await drain(idle, 0);
  assert.ok(!isWhole && bytes < 20 * mib, 'what had left before arrives');
  const read = await reading;
  assert.deepEqual(read, { bytes: 20 * mib, isWhole: true });
  assert.ok(performance.now() - begun > 2_000, 'longer than a client may take nothing');
});

test('a reader with all at hand leaves others their turns', async () => {
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  const piecesOf = new Map<number, number>();
  serving.read = async function* (from, to) {
    for (let at = from; at < to; at += 65_536) {
      piecesOf.set(turn, (piecesOf.get(turn) ?? 0) + 1);
      yield bytesAt(at, at + 65_536);
    }
  };
  count();
  const opened = await open(serving.port);
  await sleep(100);
  isOver = true;
  opened.request.destroy();
  const most = Math.max(...piecesOf.values());
  assert.ok(piecesOf.size > 5 && most <= 10, `${most} pieces in a turn`);
});

test('a file that is on its way is sent to its end when the server closes', async () => {
  const own = await serveFiles();
  const opened = await open(own.port);
  let next = 0;
  const reading = drain(opened, 0, (bytes) => {
    if (bytes < next) return null;
    next += mib;
    return sleep(10);
  });
  await until(() => own.server.counts().exchanges === 1);
  assert.equal(await own.server.close(10_000), 0);
  assert.deepEqual(await reading, { bytes: 20 * mib, isWhole: true });
});

test('one that nobody takes does not hold the server up', async () => {
  const own = await serveFiles();
  const opened = await open(own.port);
  await sleep(50);
  assert.equal(await own.server.close(100), 1);
  const { isWhole } = await drain(opened, 0);
  assert.equal(isWhole, false);
  await until(() => own.readers.closed === 1);
});

/**
 * What uWS does of it: a short write in a cork is taken, and kept where the socket has no room for
 * it. Nothing more is taken before that has left, which somebody who corks sets going.
 */
class TightSocket {
  room = 0;
  tries = 0;
  offset = 0;
  kept = 0;
  onWritableListener = () => true;

  get response(): HttpResponse {
    return this as unknown as HttpResponse;
  }

  cork(work: () => void): void {
    work();
    this.#flush();
  }

  tryEnd(bytes: Uint8Array): [boolean, boolean] {
    this.tries += 1;
    this.#flush();
    if (this.kept > 0) return [false, false];
    const isShort = bytes.length <= 16 * 1024;
    const taken = isShort ? bytes.length : Math.min(bytes.length, this.room);
    if (isShort) this.kept = bytes.length;
    else this.room -= taken;
    this.offset += taken;
    return [taken === bytes.length, false];
  }

  getWriteOffset(): number {
    return this.offset;
  }

  onWritable(listener: () => boolean): void {
    this.onWritableListener = listener;
  }

  gets(room: number): void {
    this.room += room;
    this.onWritableListener();
  }

  #flush(): void {
    const sent = Math.min(this.kept, this.room);
    this.kept -= sent;
    this.room -= sent;
  }
}

const tickMs = 250;
const { stalledMs } = fixedLimits.http;

function sendTo(socket: TightSocket, bytes: number, read: () => AsyncIterable<Uint8Array>) {
  const clock = { now: 0, tickMs, ticksOf: (ms: number) => Math.ceil(ms / tickMs), stop() {} };
  const table = createFileTable(() => clock, { fileStalledMs: stalledMs, fileReadMs: stalledMs });
  const ends: unknown[] = [];
  const sending = new FileSending(table, socket.response, {
    bytes,
    read,
    begin: () => undefined,
    refuse: (error) => ends.push(error),
    ended: () => ends.push('ended'),
    failed: (error) => ends.push(error),
  });
  const tick = (ms: number) => {
    for (let passed = 0; passed < ms; passed += tickMs) {
      clock.now += 1;
      table.tick(clock.now);
    }
  };
  return { running: sending.run(), ends, tick };
}

test('what fits is tried before uWS, which waits 8 s, would cut the client', async () => {
  const socket = new TightSocket();
  const { running, ends, tick } = sendTo(socket, 100_000, async function* () {
    yield Buffer.alloc(100_000);
  });
  await until(() => socket.tries === 1);
  for (let waited = 0; waited < 60; waited += 1) {
    const { tries } = socket;
    tick(4_000);
    assert.ok(socket.tries > tries, 'within 4 s');
    socket.room = 1;
  }
  assert.deepEqual(ends, [], 'a byte now and then is something');
  tick(stalledMs - 2 * tickMs);
  assert.deepEqual(ends, []);
  tick(3 * tickMs + 4_000);
  assert.deepEqual(ends, [null]);
  await running;
});

test('a file is not over while uWS keeps a part of it', async () => {
  const socket = new TightSocket();
  const { running, ends } = sendTo(socket, 3_000, async function* () {
    yield Buffer.alloc(3_000);
  });
  await until(() => socket.tries === 2);
  assert.deepEqual([socket.offset, socket.kept, ends], [2_999, 2_999, []]);
  socket.gets(2_000);
  assert.deepEqual([socket.kept, ends], [999, []]);
  socket.gets(5_000);
  assert.deepEqual([socket.offset, socket.kept, ends], [3_000, 0, ['ended']]);
  await running;
});

test('what uWS keeps leaves before the next piece is there', async () => {
  const socket = new TightSocket();
  let bring = () => {};
  const { running, ends } = sendTo(socket, 2_000, async function* () {
    yield Buffer.alloc(1_000);
    await new Promise<void>((resolve) => {
      bring = resolve;
    });
    yield Buffer.alloc(1_000);
  });
  await until(() => socket.kept === 1_000);
  socket.gets(4_000);
  assert.equal(socket.kept, 0);
  bring();
  await until(() => ends.length > 0);
  assert.deepEqual([socket.offset, ends], [2_000, ['ended']]);
  await running;
});

const curl = ['/usr/bin/curl', '/usr/local/bin/curl', '/bin/curl'].find(existsSync);
const skip = curl === undefined && 'curl is not installed: apt-get install curl';

test('curl gets ranges, and resumes what it has begun', { skip }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-curl-'));
  const path = join(folder, 'file.mp4');
  const url = `${serving.origin}/v1/file`;
  const run = (...options: string[]) =>
    promisify(execFile)(curl ?? '', ['-s', '-S', '-f', '-o', path, ...options, url]);
  try {
    await run('-r', '1000000-1999999');
    const part = await readFile(path);
    assert.equal(part.length, 1_000_000);
    assertBytes(part, 1_000_000);
    await run('-r', '-5');
    assertBytes(await readFile(path), 20 * mib - 5);
    for (const bytes of [0, 1, 7_654_321, 20 * mib - 1]) {
      await writeFile(path, bytesAt(0, 20 * mib));
      await truncate(path, bytes);
      await run('-C', '-');
      const whole = await readFile(path);
      assert.equal(whole.length, 20 * mib);
      assertBytes(whole, 0);
    }
    const etagPath = join(folder, 'etag');
    await run('--etag-save', etagPath);
    const { stdout } = await run('--etag-compare', etagPath, '-w', '%{http_code}');
    assert.equal(stdout, '304');
  } finally {
    await rm(folder, { recursive: true });
  }
});
