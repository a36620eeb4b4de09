// The keys that pages of a development server are lent. Each lies in a file of its own beside
// `dev.json`, since the development key can do everything.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../runtime/config.ts';
import type { Scope } from './scope.ts';
import { isKeyToken } from './token.ts';

/** What the key of each page can do, and nothing else. */
export const pageKeys = {
  voice: { label: 'voice page', scopes: ['voice:session'] },
  search: { label: 'search page', scopes: ['query:execute'] },
  video: { label: 'video page', scopes: ['video:generate', 'video:analyze'] },
} as const satisfies Record<string, { label: string; scopes: readonly Scope[] }>;

export type PageName = keyof typeof pageKeys;

/** The file in the data folder that keeps the key. */
export function pageKeyPath({ dataDir }: Pick<Config, 'dataDir'>, page: PageName): string {
  return join(dataDir, `${page}-page-key`);
}

/** The key that development mode keeps for the page; null: there is none. */
export async function readPageKey(
  config: Pick<Config, 'dataDir'>,
  page: PageName,
): Promise<string | null> {
  const token = await readFile(pageKeyPath(config, page), 'utf8').catch(() => null);
  return token === null || !isKeyToken(token) ? null : token;
}
