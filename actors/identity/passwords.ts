// Passwords as routes see them: rules and hashing, both done by threads of their own.
import type { RuleFault } from '../../media/password/rules.ts';
import type { CheckedPassword, MadePassword, PasswordWork } from '../../media/tasks/password.ts';
import type { ActorRef } from '../../runtime/actor/contract.ts';
import { Problem } from '../../runtime/problem.ts';
import type { TasksProtocol } from '../tasks/protocol.ts';
import { passwordTask } from './hashing.ts';
import type { PasswordLimits } from './password-limits.ts';

/** Both throw the problem `overloaded` where no thread is free within the bound. */
export interface Passwords {
  /**
   * Checks the rules and hashes.
   * The address is in its one form: its local part must not be in the password.
   */
  make(password: string, address: string): Promise<MadePassword>;
  /** A hash of null means that nobody is known: the same work is done, and the answer is no. */
  check(password: string, hash: string | null): Promise<CheckedPassword>;
  /**
   * Refuses for a moment behind a refusal, before anything is looked up: the line is far longer
   * than that moment.
   * @throws Problem overloaded
   */
  requireRoom(): void;
}

export function createPasswords(
  tasks: () => ActorRef<TasksProtocol>,
  limits: PasswordLimits,
): Passwords {
  const askMs = limits.waitMs + limits.workMs + limits.wayMs;
  let fullUntilMs = 0;
  const run = async (payload: PasswordWork): Promise<unknown> => {
    const task = { name: passwordTask, payload, accountId: '' };
    const answer = await tasks().ask('run', task, askMs);
    if (!answer.ok) throw new Problem('overloaded');
    if (answer.value.ok) return answer.value.value;
    // Its thread has logged why.
    if (answer.value.refused === 'failed') throw new Error('a password could not be hashed');
    fullUntilMs = performance.now() + limits.restMs;
    throw new Problem('overloaded');
  };
  return {
    make: async (password, address) =>
      (await run({ act: 'make', password, address })) as MadePassword,
    check: async (password, hash) =>
      (await run({ act: 'check', password, hash })) as CheckedPassword,
    requireRoom() {
      if (performance.now() < fullUntilMs) throw new Problem('overloaded');
    },
  };
}

const texts: Readonly<Record<RuleFault, string>> = {
  too_short: 'A password has at least 10 characters.',
  too_long: 'A password has at most 128 characters.',
  too_common: 'This password is too common, or has your address in it. Choose another one.',
};

/** The refusal of a new password, at the path of its field. */
export function passwordProblem(fault: RuleFault, path: string): Problem {
  return new Problem('invalid_request', {
    message: texts[fault],
    param: path,
    details: { reason: fault },
  });
}
