// Narrows a caller to one with an account: access has admitted it, the types do not know.
import { Problem } from '../runtime/problem.ts';
import type { Caller, KeyCaller, UserCaller } from './services.ts';

/** @throws Problem unauthenticated */
export function requireAccount(caller: Caller): KeyCaller | UserCaller {
  if (caller.kind === 'anonymous') throw new Problem('unauthenticated');
  return caller;
}
