// What administrators set of identity: who may sign up, and which documents of clients are read.
export interface IdentitySettings {
  /** `invited`: addresses that an administrator made accounts for, and open invitations. */
  signup: 'open' | 'closed' | 'invited';
  /** Domains of addresses that may sign up, in ASCII; empty: any. */
  emailDomains: readonly string[];
  /** Null: no terms are asked for. */
  termsUrl: string | null;
  termsVersion: string | null;
  clientDocuments: 'off' | 'listed' | 'any';
  /** Hosts of client documents that `listed` admits. */
  clientDocumentHosts: readonly string[];
}

export const defaultIdentitySettings: IdentitySettings = {
  signup: 'open',
  emailDomains: [],
  termsUrl: null,
  termsVersion: null,
  clientDocuments: 'off',
  clientDocumentHosts: [],
};
