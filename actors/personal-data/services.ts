// What exports offer to routes.
import type { BlobStore } from '../../media/blobs/contract.ts';
import type { PersonalDataLimits } from './limits.ts';

export interface PersonalDataServices {
  /** Has an export made that was asked for; a lost call is made up for by a round. */
  enqueueExport(id: string): void;
  blobs: BlobStore;
  limits: PersonalDataLimits;
}
