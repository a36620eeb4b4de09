// What a new API key is, whoever makes it: its token, which nobody keeps, and the row that is kept.
import { keyLimits } from '../../actors/credentials/limits.ts';
import { displayPrefix, newKeyToken, tokenHash } from '../../actors/credentials/token.ts';
import type { KeyEnvironment, NewApiKey } from '../../db/keys.ts';
import type { SpendLimit } from '../../db/spend/limit.ts';
import { newId } from '../../runtime/ids.ts';
import { Problem } from '../../runtime/problem.ts';
import type { Services } from '../services.ts';
import { defaultScopes } from './schema.ts';
import { limitOf, type TermsBody, termsAfter } from './terms.ts';

/** What is asked for; limits that are not given are the usual ones. */
interface Wanted extends TermsBody {
  label: string;
  environment: KeyEnvironment;
  scopes?: readonly string[] | undefined;
}

const { activeMax } = keyLimits;

/** Whoever wants the key, the account has as many as it may. */
export function tooManyKeys(): Problem {
  const message = `The account has ${activeMax} active keys. Revoke one first.`;
  return new Problem('conflict', { message });
}

/** @throws Problem invalid_request when its end is past, or too far */
export function newKey(
  wanted: Wanted,
  { accountId, walletId }: { accountId: string; walletId: string },
  { limits, system }: Pick<Services, 'limits' | 'system'>,
): { token: string; key: NewApiKey; spendLimit: SpendLimit | null } {
  const token = newKeyToken(wanted.environment);
  const usual = { expiresAt: null, allowedModels: null, ...limits.keys };
  const terms = termsAfter(usual, wanted, Date.now());
  const key: NewApiKey = {
    id: newId('key', system.node),
    accountId,
    walletId,
    label: wanted.label,
    environment: wanted.environment,
    scopes: [...new Set(wanted.scopes ?? defaultScopes)],
    tokenHash: tokenHash(token),
    prefix: displayPrefix(token),
    ...terms,
  };
  return { token, key, spendLimit: limitOf(wanted) ?? null };
}
