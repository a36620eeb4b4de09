// Piscina task: computes the batches of the lanes, one after the other, until its term is over.
// Input, output and state are in the shared slab that the thread was started with. It keeps
// its priority: somebody hears when it is late.
import { workerData } from 'node:worker_threads';
import type { Term } from '../audio/lanes/control.ts';
import { openService } from '../audio/lanes/slab.ts';

const service = openService(workerData as WebAssembly.Memory);

// biome-ignore lint/style/noDefaultExport: Piscina runs a file's default export
export default function resampleTask(term: Term): void {
  service(term);
}
