// Which models a key may name (customer.md, section 2). One that it may not is in none of its
// lists, and 403 wherever it is named.
import { Problem } from '../../runtime/problem.ts';
import type { Caller } from '../services.ts';

type Naming = Pick<Extract<Caller, { kind: 'key' }>, 'kind' | 'allowedModels'> | { kind: 'user' };

/** People may name every model. */
export function mayName(caller: Naming, alias: string): boolean {
  const allowed = caller.kind === 'key' ? caller.allowedModels : null;
  return allowed === null || allowed.has(alias);
}

/** @throws Problem policy_blocked */
export function requireAllowed(caller: Naming, alias: string, param = 'model'): void {
  if (!mayName(caller, alias)) throw notAllowed(alias, param);
}

export function notAllowed(alias: string, param: string | null): Problem {
  return new Problem('policy_blocked', {
    message: `The key may not use the model '${alias}'.`,
    details: { reason: 'allowed_models' },
    ...(param === null ? {} : { param }),
  });
}
