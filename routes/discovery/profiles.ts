// Social profiles (specification 2.6): what one is, and those that every installation knows.
import * as v from 'valibot';
import type { SocialProfiles, StoredProfile } from '../../db/app/social-profiles.ts';
import { maxCharacters } from '../../runtime/http/text.ts';

/** Keys with a name and an icon of their own in clients; every other key is custom. */
const builtIn: Readonly<Record<string, string>> = {
  x: 'X',
  linkedin: 'LinkedIn',
  youtube: 'YouTube',
  instagram: 'Instagram',
  facebook: 'Facebook',
  tiktok: 'TikTok',
  threads: 'Threads',
  bluesky: 'Bluesky',
  mastodon: 'Mastodon',
  github: 'GitHub',
  discord: 'Discord',
  reddit: 'Reddit',
  telegram: 'Telegram',
  whatsapp: 'WhatsApp',
  pinterest: 'Pinterest',
};

export const revisionNumber = v.pipe(v.number(), v.integer(), v.minValue(0));

export const profileInput = {
  key: v.pipe(
    v.string(),
    v.regex(/^[a-z][a-z0-9_-]{0,39}$/, 'expected a-z, then up to 39 of a-z 0-9 _ -'),
  ),
  label: v.pipe(v.string(), v.minLength(1), maxCharacters(60)),
  url: v.pipe(v.string(), maxCharacters(2_000)),
  enabled: v.boolean(),
};

export const profileSchema = v.pipe(
  v.strictObject({ ...profileInput, is_custom: v.boolean() }),
  v.title('SocialProfile'),
);

export function profileBody({ key, label, url, enabled }: StoredProfile) {
  return { key, label, url, enabled, is_custom: !Object.hasOwn(builtIn, key) };
}

/** Before anybody has written them: the known ones, none of them enabled. */
export function profilesOf({ revision, profiles }: SocialProfiles): StoredProfile[] {
  if (revision > 0) return profiles;
  return Object.entries(builtIn).map(([key, label]) => ({ key, label, url: '', enabled: false }));
}

/** What is wrong with a list of them: the path of the first fault, or null. */
export function profileFault(
  profiles: readonly StoredProfile[],
): { path: string; message: string } | null {
  const keys = new Set<string>();
  for (const [index, { key, url, enabled }] of profiles.entries()) {
    if (keys.has(key))
      return { path: `profiles[${index}].key`, message: 'The key is there twice.' };
    keys.add(key);
    const isMissing = url === '' && !enabled;
    if (!isMissing && !isWebUrl(url)) {
      const message = 'Expected an http or https URL; one that is not enabled may be empty.';
      return { path: `profiles[${index}].url`, message };
    }
  }
  return null;
}

function isWebUrl(url: string): boolean {
  if (!/^https?:\/\/\S+$/i.test(url) || !URL.canParse(url)) return false;
  const { username, password } = new URL(url);
  return username === '' && password === '';
}
