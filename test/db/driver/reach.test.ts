// A DATABASE_URL that cannot be used: one line that names the variable and the cause, soon.
import assert from 'node:assert/strict';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { createSecureContext, TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { assertDatabaseUsable } from '../../../db/driver/reach.ts';
import { parseDatabaseUrl } from '../../../db/driver/sql.ts';
import { ConfigError } from '../../../runtime/config.ts';
import { makeCertificate, runClient, withoutOpenssl } from '../../harness/certificate.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { startStopwatch } from '../../harness/stopwatch.ts';

const servers: Server[] = [];
let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(async () => {
  await database?.close();
  for (const server of servers) server.close();
});

async function listen(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return `postgres://tollgate:hunter2@127.0.0.1:${address.port}/books`;
}

/** A server that says what it is given to every start packet (PostgreSQL protocol, 3.0). */
function answering(...messages: Buffer[]): Promise<string> {
  const onSocket = (socket: Socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      for (const message of messages) socket.write(message);
      socket.on('data', () => socket.destroy());
    });
  };
  return listen(createServer(onSocket));
}

function message(type: string, body: string): Buffer {
  const text = Buffer.from(body, 'utf8');
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(text.length + 4, 1);
  return Buffer.concat([head, text]);
}

const refusing = (state: string, text: string) =>
  answering(message('E', `SFATAL\0VFATAL\0C${state}\0M${text}\0\0`));

async function faultOf(url: string): Promise<string> {
  const error = await assertDatabaseUsable(url).then(
    () => assert.fail('it can be used'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ConfigError, String(error));
  assert.ok(!error.message.includes('hunter2') && !error.message.includes('\n'), error.message);
  assert.match(error.message, /^DATABASE_URL cannot be used: /);
  return error.message;
}

test('a server that can be used passes', async () => {
  await assertDatabaseUsable(database.url);
});

test('nobody there, an unknown host, who hangs up', async () => {
  const closed = createServer();
  const url = await listen(closed);
  await new Promise((resolve) => closed.close(resolve));
  assert.match(await faultOf(url), /: 127\.0\.0\.1:\d+: nobody listens there \(ECONNREFUSED\)$/);
  const unknown = url.replace('127.0.0.1', 'nowhere.invalid');
  assert.match(await faultOf(unknown), /nowhere\.invalid:\d+: the host is not found/);
  const hangingUp = await listen(createServer((socket) => socket.destroy()));
  assert.match(await faultOf(hangingUp), /is it a PostgreSQL|no answer of a PostgreSQL server/);
});

test('what the server says of user, password and database is told', async () => {
  const text = 'password authentication failed for user "tollgate"';
  assert.ok((await faultOf(await refusing('28P01', text))).endsWith(text));
  const missing = database.url.replace('/test_', '/no_such_');
  assert.match(await faultOf(missing), /: database "no_such_\w+" does not exist$/);
});

test('who is no PostgreSQL server is given up in time, whatever it answers', async () => {
  const watch = startStopwatch();
  const faults = await Promise.all([
    listen(createServer(() => undefined)).then(faultOf),
    listen(createServer((socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n'))).then(faultOf),
    listen(createHttpServer((_request, response) => response.end('hello'))).then(faultOf),
  ]);
  watch.assertWithin(7_000, 'three who are no database');
  for (const fault of faults) assert.match(fault, /no answer of a PostgreSQL server|closed/);
});

test('a server without TLS, when TLS is asked for', async () => {
  const url = `${await answering(Buffer.from('N'))}?sslmode=require`;
  assert.match(await faultOf(url), /with TLS as asked for/);
});

test('a server that is too old is told what is needed', async () => {
  const { host, port, database: name, username } = parseDatabaseUrl(database.url);
  /** Between us and the real one, whose every version becomes an old one. */
  const between = createServer((client) => {
    const isFolder = host.startsWith('/');
    const server = isFolder ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    for (const socket of [client, server]) socket.on('error', () => undefined);
    client.pipe(server);
    server.on('data', (bytes) =>
      client.write(bytes.toString('latin1').replace(/\b1[0-9]00(?=\d\d\b)/, '1300'), 'latin1'),
    );
    server.on('close', () => client.destroy());
  });
  const { port: own } = new URL(await listen(between));
  const fault = await faultOf(`postgres://${username}@127.0.0.1:${own}/${name}`);
  assert.match(fault, /: PostgreSQL 14 or newer is needed, the server is \d+\.\d+/);
});

test('a database in which nothing can be made is refused by its reason', async () => {
  const sql = database.pool('general', 1);
  const name = new URL(database.url.replace(/\?.*/, '')).pathname.slice(1);
  await sql.unsafe(`ALTER DATABASE ${name} SET search_path = nothing_of_that_name`);
  assert.match(await faultOf(database.url), /may not create tables/);
  await sql.unsafe(`ALTER DATABASE ${name} RESET search_path`);
  await sql.unsafe(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  assert.match(await faultOf(database.url), /the server is read-only/);
  await sql.unsafe(
    `BEGIN READ WRITE; ALTER DATABASE ${name} RESET default_transaction_read_only; COMMIT`,
  );
});

test('a database that cannot hold every character is refused', async () => {
  const sql = database.pool('general', 1);
  const name = new URL(database.url.replace(/\?.*/, '')).pathname.slice(1);
  const withEncoding = async <T>(
    encoding: string,
    use: (url: string) => Promise<T>,
  ): Promise<T> => {
    const other = `${name}_${encoding.toLowerCase()}`;
    await sql.unsafe(`CREATE DATABASE ${other} TEMPLATE template0 ENCODING ${encoding} LOCALE 'C'`);
    try {
      return await use(database.url.replace(name, other));
    } finally {
      await sql.unsafe(`DROP DATABASE ${other} WITH (FORCE)`);
    }
  };
  assert.match(
    await withEncoding('LATIN1', faultOf),
    /the encoding of the database is LATIN1: make it/,
  );
  // Keeps the bytes that it is given.
  await withEncoding('SQL_ASCII', assertDatabaseUsable);
});

test('of a user is told what he may not do, and what his server does not do', async () => {
  const sql = database.pool('general', 1);
  const name = new URL(database.url.replace(/\?.*/, '')).pathname.slice(1);
  const user = `${name}_guest`;
  await sql.unsafe(`CREATE ROLE ${user} LOGIN`);
  try {
    await sql.unsafe(`GRANT CREATE ON SCHEMA public TO ${user}`);
    const url = database.url.replace(/\/\/[^@]*@/, `//${user}@`);
    assert.match(await faultOf(url), /may not create schemas, .*GRANT CREATE ON DATABASE$/);
    await sql.unsafe(`GRANT CREATE ON DATABASE ${name} TO ${user}`);
    await sql.unsafe(`ALTER ROLE ${user} CONNECTION LIMIT 7`);
    assert.equal((await assertDatabaseUsable(url)).connectionsMax, 7);
    await sql.unsafe(`ALTER ROLE ${user} CONNECTION LIMIT -1`);
    const usual = await assertDatabaseUsable(url);
    assert.ok(usual.connectionsMax > 7);
    assert.doesNotMatch(String(usual.offSettings), /synchronous_commit/);
    await sql.unsafe(`ALTER ROLE ${user} SET synchronous_commit = off`);
    assert.match(String((await assertDatabaseUsable(url)).offSettings), /synchronous_commit$/);
  } finally {
    await sql.unsafe(`DROP OWNED BY ${user}`);
    await sql.unsafe(`DROP ROLE ${user}`);
  }
});

test('a pooler is refused, whether it refuses our settings or drops them', async () => {
  const refusal = 'unsupported startup parameter: statement_timeout';
  assert.match(await faultOf(await refusing('08P01', refusal)), /_timeout: is that a pooler\?/);
  const { host, port, database: name, username } = parseDatabaseUrl(database.url);
  /** Passes on what it is told, but for the settings in the first message. */
  const pooler = createServer((client) => {
    const isFolder = host.startsWith('/');
    const server = isFolder ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    for (const socket of [client, server]) socket.on('error', () => undefined);
    client.once('data', () => {
      const body = Buffer.from(`\0\x03\0\0user\0${username}\0database\0${name}\0\0`);
      const length = Buffer.alloc(4);
      length.writeInt32BE(body.length + 4);
      server.write(Buffer.concat([length, body]));
      client.pipe(server);
    });
    server.pipe(client);
    server.on('close', () => client.destroy());
  });
  const { port: own } = new URL(await listen(pooler));
  const fault = await faultOf(`postgres://${username}@127.0.0.1:${own}/${name}`);
  assert.match(fault, /: the settings of a connection do not arrive: is that a pooler\?/);
});

test('a certificate is held against the address that was named', async (t) => {
  if (withoutOpenssl !== false) return t.skip(withoutOpenssl);
  // Of localhost; nobody goes on behind the handshake.
  const certificate = await makeCertificate();
  const secureContext = createSecureContext(certificate);
  const server = createServer((client) => {
    client.on('error', () => undefined);
    client.once('data', () => {
      client.write('S');
      const secret = new TLSSocket(client, { isServer: true, secureContext });
      secret.on('error', () => undefined);
      secret.once('data', () => secret.end(message('E', 'SFATAL\0C28P01\0Mwho are you\0\0')));
    });
  });
  try {
    const url = `${await listen(server)}?sslmode=verify-full`;
    const named = url.replace('127.0.0.1', 'localhost');
    const script = fileURLToPath(new URL('./reach-client.js', import.meta.url));
    assert.match(await faultOf(named), /is not trusted \(.*NODE_EXTRA_CA_CERTS$/);
    const [byName, byAddress] = (await runClient(script, [named, url], certificate.trust)) as [
      string,
      string,
    ];
    assert.match(byName, /: who are you$/);
    assert.match(byAddress, /: its certificate is for others/);
  } finally {
    await certificate.remove();
  }
});
