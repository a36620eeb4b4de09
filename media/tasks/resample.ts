// Piscina task: one batch of the lanes. Input, output and state are in the shared slab that the
// thread was started with. It keeps its priority: somebody hears when it is late.
import { workerData } from 'node:worker_threads';
import { openTable } from '../audio/lanes/slab.ts';

const compute = openTable(workerData as WebAssembly.Memory);

// biome-ignore lint/style/noDefaultExport: Piscina runs a file's default export
export default function resampleTask(jobs: number): void {
  compute(jobs);
}
