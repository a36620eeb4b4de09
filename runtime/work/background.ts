// Imported by every task: its thread steps back behind the shards when cores are short. On Linux a
// priority belongs to a thread, although node speaks of a process; elsewhere it is left alone.
import { platform, setPriority } from 'node:os';
import { isMainThread } from 'node:worker_threads';

/** Against the usual 0 this gets a tenth of a core that somebody else wants as well. */
const niceness = 10;

if (!isMainThread && platform() === 'linux') {
  try {
    setPriority(0, niceness);
  } catch {
    // A sandbox may forbid it: the work is the same, the shards only wait longer.
  }
}
