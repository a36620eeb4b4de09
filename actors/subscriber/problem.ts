// Problems as plain data, so that they can cross threads and be stored, and back again.
import { Problem, type ProblemCode, problemCodes } from '../../runtime/problem.ts';
import type { PlainProblem } from './protocol.ts';

export function plainProblem(
  code: ProblemCode,
  message?: string,
  details?: Record<string, unknown>,
): PlainProblem {
  return {
    code,
    message: message ?? problemCodes[code].message,
    param: null,
    details: details ?? null,
    headers: {},
  };
}

export function toProblem(plain: PlainProblem): Problem {
  return new Problem(plain.code, {
    message: plain.message,
    ...(plain.param === null ? {} : { param: plain.param }),
    ...(plain.details === null ? {} : { details: plain.details }),
    headers: plain.headers,
  });
}
