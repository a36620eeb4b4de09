// The key that the page /voice of a development server is lent. It lies in a file of its own beside
// `dev.json`, since the development key can do everything.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../runtime/config.ts';
import { isKeyToken } from './token.ts';

/** The file in the data folder that keeps the key. */
export function voicePageKeyPath(config: Config): string {
  return join(config.dataDir, 'voice-page-key');
}

/** The key that development mode keeps for the page; null: there is none. */
export async function readVoicePageKey(config: Config): Promise<string | null> {
  const token = await readFile(voicePageKeyPath(config), 'utf8').catch(() => null);
  return token === null || !isKeyToken(token) ? null : token;
}
