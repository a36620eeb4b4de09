// The code by which a person proves that content is its own: it stands in what everybody can read.
import { randomInt } from 'node:crypto';
import type { RewardTaskRecord } from '../catalog/document.ts';

/** No letter or digit that is taken for another one. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const length = 4;

export function newChallengeCode(): string {
  const part = () =>
    Array.from({ length }, () => alphabet.charAt(randomInt(alphabet.length))).join('');
  return `TG-${part()}-${part()}`;
}

/** Whether a task asks for one. */
export function asksForCode({
  challenge,
  verification_method: method,
}: Pick<RewardTaskRecord, 'challenge' | 'verification_method'>): boolean {
  return challenge ?? method === 'public_content_ai';
}
