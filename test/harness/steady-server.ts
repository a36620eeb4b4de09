// A server on a thread of its own, which goes on while the thread of the test stands still.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** What it writes to each connection, so long after the first byte that it read. */
export interface Utterance {
  afterMs: number;
  text: string;
}

const source = `
const { createServer } = require('node:net');
const { parentPort, workerData } = require('node:worker_threads');
const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', () => {
    parentPort.postMessage('asked');
    for (const { afterMs, text } of workerData) setTimeout(() => socket.write(text), afterMs);
  });
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

export interface SteadyServer {
  port: number;
  /** Resolves with the first byte of the next connection. */
  asked(): Promise<void>;
  close(): Promise<number>;
}

export async function startSteadyServer(says: readonly Utterance[]): Promise<SteadyServer> {
  const worker = new Worker(source, { eval: true, workerData: says });
  const [port] = (await once(worker, 'message')) as [number];
  const asked = async () => void (await once(worker, 'message'));
  return { port, asked, close: () => worker.terminate() };
}
