// The upstream of every contender: the simulator as a process of its own, for benches without the
// gateway (which brings its own).
import { fileURLToPath } from 'node:url';
import { type Child, freePort, portOpen, startChild } from '../child.ts';

export interface Simulator {
  port: number;
  stop(): Promise<void>;
}

/** Starts the simulator on a free loopback port; rejects when it does not listen within 10 s. */
export async function startSimulator(): Promise<Simulator> {
  const path = fileURLToPath(new URL('../sim/main.js', import.meta.url));
  const port = await freePort();
  const child: Child = startChild(process.execPath, [path, '--port', String(port)]);
  await portOpen(port, child, 10_000);
  return { port, stop: () => child.stop() };
}
