// What a new API key is, whoever makes it: its token, which nobody keeps, and the row that is kept.
import { keyLimits } from '../../actors/credentials/limits.ts';
import { displayPrefix, newKeyToken, tokenHash } from '../../actors/credentials/token.ts';
import type { KeyEnvironment, NewApiKey } from '../../db/keys.ts';
import { newId } from '../../runtime/ids.ts';
import { Problem } from '../../runtime/problem.ts';
import type { Services } from '../services.ts';
import { defaultScopes } from './schema.ts';

/** What is asked for; limits that are not given are the usual ones. */
interface Wanted {
  label: string;
  environment: KeyEnvironment;
  scopes?: readonly string[] | undefined;
  requests_per_minute?: number | undefined;
  concurrency_max?: number | undefined;
}

const { activeMax } = keyLimits;

/** Whoever wants the key, the account has as many as it may. */
export function tooManyKeys(): Problem {
  const message = `The account has ${activeMax} active keys. Revoke one first.`;
  return new Problem('conflict', { message });
}

export function newKey(
  wanted: Wanted,
  { accountId, walletId }: { accountId: string; walletId: string },
  { limits, system }: Pick<Services, 'limits' | 'system'>,
): { token: string; key: NewApiKey } {
  const token = newKeyToken(wanted.environment);
  const key: NewApiKey = {
    id: newId('key', system.node),
    accountId,
    walletId,
    label: wanted.label,
    environment: wanted.environment,
    scopes: [...new Set(wanted.scopes ?? defaultScopes)],
    tokenHash: tokenHash(token),
    prefix: displayPrefix(token),
    requestsPerMinute: wanted.requests_per_minute ?? limits.keys.requestsPerMinute,
    concurrencyMax: wanted.concurrency_max ?? limits.keys.concurrencyMax,
  };
  return { token, key };
}
