// Copies of a person's data are the person's as well.
import { deleting, type PersonalDomain } from './contract.ts';

export const exportData: PersonalDomain = {
  file: null,
  tables: {
    account_exports: { hold: 'exempt', exported: 'it is a copy of all the others', fate: 'erased' },
  },
  lists: [],
  erasing: [deleting('account_exports', 'id', 't.blob_id')],
};
