// Addresses that people left for an answer: sealed in their rows, told to administrators alone.
import { openFor } from '../../../actors/app/seals.ts';
import type { SealedPlace } from '../../../db/app/seals.ts';
import { createSealer } from '../../../runtime/seal.ts';
import type { Services } from '../../services.ts';

/** Null: none was left, or its key is lost. */
export function openedEmail(
  { sealer, config }: Pick<Services, 'sealer' | 'config'>,
  place: SealedPlace,
  row: string,
  sealed: Uint8Array | null,
): string | null {
  if (sealed === null) return null;
  const { previousSecret } = config;
  const sealers = previousSecret === null ? [sealer] : [sealer, createSealer(previousSecret)];
  return openFor(sealers, place, row, sealed);
}
