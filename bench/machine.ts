// The machine a figure was measured on, in one line. A figure without it is worth nothing.
import { cpus, release, totalmem } from 'node:os';

/** CPU model, cores, memory, Node and kernel, as `results.md` states them. */
export function describeMachine(): string {
  const [first] = cpus();
  const memoryGiB = Math.round(totalmem() / 2 ** 30);
  const parts = [`${(first?.model ?? 'unknown CPU').trim()}, ${cpus().length} cores`];
  parts.push(`${memoryGiB} GiB`, `Node ${process.version.slice(1)}`, `Linux ${release()}`);
  return parts.join(', ');
}
