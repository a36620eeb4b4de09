// Where development mode keeps its account, and the session of it that a page may be signed in
// with. The file's other members can do more, and leave it nowhere else.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import type { Config } from '../../runtime/config.ts';

export function developmentFilePath({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'dev.json');
}

const sessionSchema = v.object({ session_token: v.pipe(v.string(), v.regex(/^[\w-]{1,200}$/)) });

/** The token of the account's session, without administration; null: there is none. */
export async function readDevelopmentSession(
  config: Pick<Config, 'dataDir'>,
): Promise<string | null> {
  try {
    const text = await readFile(developmentFilePath(config), 'utf8');
    return v.parse(sessionSchema, JSON.parse(text)).session_token;
  } catch {
    // Absent, or of another time.
    return null;
  }
}
