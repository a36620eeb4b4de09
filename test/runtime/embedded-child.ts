// A process that starts the embedded database of argv[2], says so on stdout, and waits for a kill.
import { startDatabase } from '../../runtime/embedded/database.ts';

const say = (message: string) => process.stdout.write(`${message}\n`);
const quiet = () => undefined;
const log = {
  debug: quiet,
  info: quiet,
  warn: (_fields: object, message: string) => say(`warn ${message}`),
  error: (_fields: object, message: string) => say(`error ${message}`),
};

try {
  const database = await startDatabase({ dataDir: process.argv[2] ?? '', log });
  // Before the line that is waited for: a SIGTERM that comes at once would kill us instead.
  process.once('SIGTERM', () => void database.stop());
  say(`url ${database.url}`);
} catch (error) {
  say(`failed ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
