// The two tokens that an app is given together. For an app that lost them they are kept sealed,
// under a key of which the refresh token before is a part. Whoever has the database, or the master
// key too, cannot open them without that token.
import type { Sealer } from '../../runtime/seal.ts';
import { newToken, tokenHash } from '../credentials/token.ts';

export interface TokenPair {
  access: string;
  refresh: string;
}

type Bound = Pick<Sealer, 'bind'>;

export function newPair(): TokenPair {
  return { access: newToken('access'), refresh: newToken('refresh') };
}

export function pairHashes({ access, refresh }: TokenPair) {
  return { accessHash: tokenHash(access), refreshHash: tokenHash(refresh) };
}

export function sealPair(sealer: Bound, before: string, { access, refresh }: TokenPair): Buffer {
  return sealer.bind(purposeOf(before)).seal(`${access} ${refresh}`);
}

/** @throws Error when the bytes were not sealed under this token. */
export function openPair(sealer: Bound, before: string, sealed: Uint8Array): TokenPair {
  const text = sealer.bind(purposeOf(before)).open(sealed);
  const [access = '', refresh = ''] = text.split(' ');
  return { access, refresh };
}

function purposeOf(before: string): string {
  return `oauth pair after ${before}`;
}
