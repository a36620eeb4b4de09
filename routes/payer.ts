// Who pays for what a caller asks for, as every order of a billed request says it.
import type { LookedAt } from '../actors/billed-request/funds-look.ts';
import type { KeyCaller, UserCaller } from './services.ts';

type Paying =
  | Pick<KeyCaller, 'kind' | 'keyId' | 'accountId' | 'walletId' | 'fallbackWalletId'>
  | Pick<UserCaller, 'kind' | 'accountId' | 'walletId' | 'fallbackWalletId'>;

export function payerOf(caller: Paying): LookedAt {
  const { accountId, walletId, fallbackWalletId } = caller;
  const apiKeyId = caller.kind === 'key' ? caller.keyId : null;
  return { accountId, walletId, fallbackWalletId, apiKeyId };
}
