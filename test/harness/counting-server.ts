// A server of bare sockets that notes on which connection each request came.
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

export interface CountingServer {
  server: Server;
  url: string;
  /** Of each request its connection, counted from one. */
  seen: number[];
}

/** `answer` gets the connection and the number of the request, counted from one. */
export async function countingServer(
  answer: (socket: Socket, request: number) => void,
): Promise<CountingServer> {
  const seen: number[] = [];
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    const connection = connections;
    socket.on('error', () => undefined);
    socket.on('data', () => {
      seen.push(connection);
      answer(socket, seen.length);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it has no port');
  return { server, url: `http://127.0.0.1:${address.port}/v1`, seen };
}
