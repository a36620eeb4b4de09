// Imported by every task: its thread steps back behind the shards when cores are short. On Linux a
// priority belongs to a thread, although node speaks of a process; elsewhere it is left alone.
import { getPriority, platform, setPriority } from 'node:os';
import { isMainThread } from 'node:worker_threads';

/** Beside the process itself this gets a tenth of a core that both want. */
const nicer = 10;
const nicest = 19;

if (!isMainThread && platform() === 'linux') {
  try {
    // The process may be a nice one already.
    setPriority(0, Math.min(nicest, getPriority(0) + nicer));
  } catch {
    // A sandbox may forbid it: the work is the same, the shards only wait longer.
  }
}
