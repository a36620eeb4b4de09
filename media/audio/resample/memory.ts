// Memory that kernels and JavaScript see alike. It is shared even where one thread uses it: a
// module that imports shared memory takes no other.
import type { Plan } from './plan.ts';

const pageBytes = 65_536;

/** Zeroed, at least `bytes` long; the system gives pages only to what is touched. */
export function allocateMemory(bytes: number): WebAssembly.Memory {
  const pages = Math.ceil(bytes / pageBytes);
  return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
}

/** Bytes that the coefficients of a plan take at `offset`, which is a multiple of 16. */
export function placeCoefficients(memory: WebAssembly.Memory, offset: number, plan: Plan): number {
  new Int16Array(memory.buffer, offset, plan.coefficients.length).set(plan.coefficients);
  return plan.coefficients.byteLength;
}
