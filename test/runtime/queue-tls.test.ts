// The queue reaches the database as the ledger does, whatever `pg` would make of address and
// environment: the server behind it is the real one, this end of it speaks TLS or refuses it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { createSecureContext, TLSSocket } from 'node:tls';
import pino from 'pino';
import { parseDatabaseUrl } from '../../db/driver/sql.ts';
import { createQueue } from '../../runtime/work/queue.ts';
import { makeCertificate, withoutOpenssl } from '../harness/certificate.ts';
import { openTestDatabase, type TestDatabase } from '../harness/database.ts';

const log = pino({ level: 'silent' });
const ROUND_MS = 20_000;
let database: TestDatabase;

before(async () => {
  database = await openTestDatabase();
});
after(async () => {
  await database.close();
});

interface Front {
  url: string;
  /** How many connections went on in TLS, and how many without. */
  counts: { secret: number; plain: number };
  close(): void;
}

/** Answers the SSLRequest of the protocol (8 bytes), and stands before the real server. */
async function openFront(secure: { key: Buffer; cert: Buffer } | null): Promise<Front> {
  const { host, port, database: name, username } = parseDatabaseUrl(database.url);
  const counts = { secret: 0, plain: 0 };
  const sockets = new Set<Socket>();
  const pass = (client: Socket, first: Buffer | null) => {
    const upstream = connect(`${host}/.s.PGSQL.${port}`);
    sockets.add(upstream);
    for (const socket of [client, upstream]) {
      socket.on('error', () => undefined);
      socket.on('close', () => [client, upstream].map((each) => each.destroy()));
    }
    if (first !== null) upstream.write(first);
    client.pipe(upstream).pipe(client);
  };
  const greet = (client: Socket) => {
    client.once('data', (bytes: Buffer) => {
      if (bytes.length !== 8) {
        counts.plain += 1;
        return pass(client, bytes);
      }
      client.write(secure === null ? 'N' : 'S');
      if (secure === null) return greet(client);
      counts.secret += 1;
      const secureContext = createSecureContext(secure);
      return pass(new TLSSocket(client, { isServer: true, secureContext }), null);
    });
  };
  const server = createServer((client) => {
    sockets.add(client);
    client.on('error', () => undefined);
    greet(client);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return {
    url: `postgres://${username}@127.0.0.1:${address.port}/${name}`,
    counts,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Resolves with the first round; the queue is stopped. */
async function firstRound(url: string, name: string): Promise<void> {
  const queue = createQueue({ database: parseDatabaseUrl(url), log, name });
  const come = new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('no round came')), ROUND_MS);
    queue.schedule('round', 100, async () => {
      clearTimeout(late);
      resolve();
    });
  });
  queue.start();
  try {
    await come;
  } finally {
    await queue.stop(1_000);
  }
}

test('a server with a certificate of its own', { skip: withoutOpenssl }, async () => {
  const certificate = await makeCertificate();
  const front = await openFront(certificate);
  try {
    for (const mode of ['require', 'prefer']) {
      await firstRound(`${front.url}?sslmode=${mode}`, `own-${mode}`);
      assert.equal(front.counts.plain, 0, mode);
    }
    const { secret } = front.counts;
    // As the ledger's connections, which take `allow` for none; with it goes what is unknown.
    await firstRound(`${front.url}?sslmode=allow&options=-c%20search_path%3Dnowhere`, 'own-allow');
    assert.equal(front.counts.secret, secret);
  } finally {
    front.close();
    await certificate.remove();
  }
});

test('a server without TLS, where that is preferred, or said in the environment', async () => {
  const front = await openFront(null);
  const { PGSSLMODE } = process.env;
  try {
    await firstRound(`${front.url}?sslmode=prefer`, 'without-prefer');
    process.env.PGSSLMODE = 'require';
    await firstRound(front.url, 'without-environment');
  } finally {
    if (PGSSLMODE === undefined) delete process.env.PGSSLMODE;
    else process.env.PGSSLMODE = PGSSLMODE;
    front.close();
  }
});
