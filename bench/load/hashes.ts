// Bare argon2 verifies one password after the other, on the main thread of a process of its own. It
// stands as far back behind others as the gateway's own thread for passwords.
import { setPriority } from 'node:os';
import { verifyPassword } from '../../media/password/hashing.ts';
import { answerParent } from './asked.ts';

export interface HashesJob {
  password: string;
  hash: string;
  durationMs: number;
}

export interface Hashed {
  verifies: number;
  elapsedMs: number;
  cpuMicros: number;
}

/** As `runtime/work/background.ts` has it for threads. */
const NICE = 10;

async function verifyFor({ password, hash, durationMs }: HashesJob): Promise<Hashed> {
  const before = process.cpuUsage();
  const startedMs = performance.now();
  let verifies = 0;
  while (performance.now() - startedMs < durationMs) {
    if (!verifyPassword(password, hash).isRight) throw new Error('the password is not right');
    verifies += 1;
  }
  const { user, system } = process.cpuUsage(before);
  return { verifies, elapsedMs: performance.now() - startedMs, cpuMicros: user + system };
}

setPriority(NICE);
answerParent<HashesJob>(verifyFor);
