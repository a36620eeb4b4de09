// What is told where a spend limit keeps a request from its hold.
import { type PlainProblem, plainProblem } from '../../runtime/problem.ts';
import type { SpendCap } from '../wallet/protocol.ts';

export interface Refused {
  requiredMicros: bigint;
  /** The least of funds and caps. */
  availableMicros: bigint;
  cap: SpendCap;
}

export function limitProblem({ requiredMicros, availableMicros, cap }: Refused): PlainProblem {
  return plainProblem('spend_limit_exceeded', limitMessage(cap), {
    cap: 'key',
    resets_at: resetTime(cap),
    required_microcredits: Number(requiredMicros),
    available_microcredits: Number(availableMicros),
  });
}

export function limitMessage(cap: SpendCap): string {
  const time = resetTime(cap);
  const rest = time === null ? 'It does not begin anew.' : `It begins anew at ${time}.`;
  return `The spend limit of the key does not allow this. ${rest}`;
}

function resetTime({ resetsAtMs }: SpendCap): string | null {
  return resetsAtMs === null ? null : new Date(resetsAtMs).toISOString();
}
