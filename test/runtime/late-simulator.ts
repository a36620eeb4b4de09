// Stands in for a simulator that takes longer to start than a main process may take to be ready.
import { setTimeout as sleep } from 'node:timers/promises';

process.on('disconnect', () => process.exit());
await sleep(5_000);
process.send?.({ port: 9 });
