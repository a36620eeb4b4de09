// The parent with a stand-in for the main process; everything else is as in runtime/start.ts.
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../runtime/config.ts';
import { createLog } from '../../runtime/log.ts';
import { runParent } from '../../runtime/parent.ts';

const simulator = process.env.TEST_SIMULATOR ?? '../../bench/sim/main.js';
const stop = new AbortController();
process.on('SIGTERM', () => stop.abort());
const end = await runParent({
  config: readConfig(),
  log: createLog({ level: 'error', base: {}, sync: true }),
  mainPath: fileURLToPath(new URL('./start-main.js', import.meta.url)),
  simulatorPath: fileURLToPath(new URL(simulator, import.meta.url)),
  stopSignal: stop.signal,
  forceSignal: new AbortController().signal,
  limits: {
    pingMs: 100,
    // A healthy one that the machine stops for a while is not hung.
    hungMs: Number(process.env.TEST_HUNG_MS ?? 60_000),
    readyTimeoutMs: Number(process.env.TEST_READY_MS ?? 120_000),
    restartsMax: Number(process.env.TEST_RESTARTS_MAX ?? 10),
    restartsWithinMs: Number(process.env.TEST_RESTARTS_WITHIN_MS ?? 60_000),
    stopGraceMs: Number(process.env.TEST_STOP_GRACE_MS ?? 20_000),
  },
});
process.stdout.write(`end ${end.code} ${end.message ?? ''}\n`);
process.exit(end.code);
