// Stands between a pool and the test database as a network does: it delays, cuts, falls silent, or
// takes connections and drops them.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { parseDatabaseUrl } from '../../db/driver/sql.ts';

/** `silent`: everything stays open and nothing arrives, until it passes again. */
export type ProxyMode = 'pass' | 'silent' | 'drop';

export interface DatabaseProxy {
  /** Of the same database, through here. */
  url: string;
  delayMs: number;
  /** How many connections were taken. */
  readonly taken: number;
  setMode(mode: ProxyMode): void;
  /** Cuts those that are open. */
  cut(): void;
  /** Those that are open stay so and are silent for good; new ones pass. */
  strand(): void;
  close(): void;
}

/** Forwards to the database of `databaseUrl` from a port of its own. */
export async function openDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const { host, port, username, database } = parseDatabaseUrl(databaseUrl);
  const open = new Set<Socket>();
  const stranded = new Set<Socket>();
  let mode: ProxyMode = 'pass';
  const server = createServer((client) => {
    proxy.taken += 1;
    if (mode === 'drop') {
      client.on('error', () => undefined);
      client.end();
      return;
    }
    const upstream = host.startsWith('/')
      ? connect(`${host}/.s.PGSQL.${port}`)
      : connect(port, host);
    join(client, upstream);
    join(upstream, client);
  });
  const join = (from: Socket, to: Socket) => {
    open.add(from);
    if (mode === 'silent') from.pause();
    from.on('error', () => to.destroy());
    from.on('close', () => {
      open.delete(from);
      setTimeout(() => to.end(), proxy.delayMs);
    });
    from.on('data', (bytes) => {
      if (proxy.delayMs === 0) to.write(bytes);
      else setTimeout(() => to.write(bytes), proxy.delayMs);
    });
  };
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  const proxy = {
    url: '',
    delayMs: 0,
    taken: 0,
    setMode(next: ProxyMode) {
      mode = next;
      for (const socket of open) mode === 'silent' ? socket.pause() : socket.resume();
    },
    cut,
    strand() {
      for (const socket of open) stranded.add(socket.pause());
      open.clear();
    },
    close() {
      cut();
      for (const socket of stranded) socket.destroy();
      server.close();
    },
  };
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const own = (server.address() as AddressInfo).port;
  proxy.url = `postgres://${username}@127.0.0.1:${own}/${database}`;
  return proxy;
}
