// Piscina task: computes the batches of the lanes, one after the other, as long as they are asked
// for. Input, output and state are in the shared slab that the thread was started with. It keeps
// its priority: somebody hears when it is late.
import { workerData } from 'node:worker_threads';
import { openService } from '../audio/lanes/slab.ts';

const service = openService(workerData as WebAssembly.Memory);

// biome-ignore lint/style/noDefaultExport: Piscina runs a file's default export
export default function resampleTask(term: { term: number; idleMs: number }): void {
  service(term);
}
