// Logs more than any pipe holds, says so to its parent, and ends.
import { createLog } from '../../runtime/log.ts';

// As in the main process: opened, the pipe does not block who writes to it.
process.stdout.on('error', () => undefined);
const log = createLog({ level: 'info', base: {}, sync: process.argv[2] === 'sync' });
for (let line = 0; line < 1_000; line += 1) log.info({ line: 'x'.repeat(1_024) }, 'nobody reads');
process.send?.('logged');
setTimeout(() => process.exit(0), 200);
