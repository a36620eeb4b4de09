// The error object of Chat Completions: exactly four members (decisions.md, section 2).
import type { Problem } from '../../../../runtime/problem.ts';

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  429: 'rate_limit_error',
};

export interface ChatError {
  message: string;
  type: string;
  code: string;
  param: string | null;
}

export function chatError(problem: Problem): ChatError {
  const fallback = problem.status >= 500 ? 'api_error' : 'invalid_request_error';
  return {
    message: problem.message,
    type: types[problem.status] ?? fallback,
    code: problem.code,
    param: problem.param,
  };
}
