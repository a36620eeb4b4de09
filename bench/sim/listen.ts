// Where the simulator listens. A port that the kernel chose for the listener itself cannot be
// listened on again while connections of a killed process linger, so one is chosen before.
import { type TemplatedApp, us_socket_local_port } from 'uWebSockets.js';
import { createServer } from 'node:net';

/** Another program may take a free port before it is listened on. */
const TRIES_MAX = 5;

/** Listens on the loopback; port 0 takes a free one. Rejects when the port cannot be had. */
export async function listen(app: TemplatedApp, port: number): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const wanted = port === 0 ? await freePort() : port;
    const got = await listenOn(app, wanted);
    if (got !== null) return got;
    if (port !== 0 || tries === TRIES_MAX) throw new Error(`cannot listen on 127.0.0.1:${wanted}`);
  }
}

function listenOn(app: TemplatedApp, port: number): Promise<number | null> {
  return new Promise((resolve) => {
    app.listen('127.0.0.1', port, (socket) => {
      resolve(socket === false ? null : us_socket_local_port(socket));
    });
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
