// The social profiles of the service: one document with a revision, replaced whole.
import type { Queryable, Transaction } from '../driver/sql.ts';

export interface StoredProfile {
  key: string;
  label: string;
  url: string;
  enabled: boolean;
}

export interface SocialProfiles {
  /** 0: nobody has written them yet. */
  revision: number;
  profiles: StoredProfile[];
}

export async function readSocialProfiles(sql: Queryable): Promise<SocialProfiles> {
  const [row] = await sql<SocialProfiles[]>`SELECT revision, profiles FROM social_profiles`;
  return row ?? { revision: 0, profiles: [] };
}

/** Returns the new revision. */
export async function putSocialProfiles(
  transaction: Transaction,
  profiles: readonly StoredProfile[],
): Promise<number> {
  const [row] = await transaction<{ revision: number }[]>`
    UPDATE social_profiles SET profiles = ${JSON.stringify(profiles)}::text::jsonb,
      revision = revision + 1, updated_at = now()
    RETURNING revision`;
  return row?.revision ?? 0;
}
