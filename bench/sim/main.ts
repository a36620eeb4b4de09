// The upstream simulator as a program: `node dist/bench/sim/main.js --port N [--dns-port N]
// [--key K] [--seed N]`. It ends with its parent when it was forked, and with SIGTERM or SIGINT.
import { parseArgs } from 'node:util';
import { startSim } from './server.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    'dns-port': { type: 'string', default: '0' },
    key: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
});

const sim = await startSim({
  port: Number(values.port),
  dnsPort: Number(values['dns-port']),
  key: values.key ?? null,
  seed: Number(values.seed),
});

function stop(): void {
  sim.close();
  process.exit(0);
}

process.on('SIGTERM', stop);
process.on('SIGINT', stop);
if (process.send !== undefined) {
  if (!process.connected) stop();
  process.on('disconnect', stop);
}
process.send?.({ port: sim.port, dnsPort: sim.dnsPort });
process.stdout.write(`simulator ready on http://127.0.0.1:${sim.port}\n`);
