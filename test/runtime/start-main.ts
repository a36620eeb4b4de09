// Stands in for the main process in tests of the parent: tells over HTTP what it was given.
// `/abort` ends it the hard way, `/hang` stops its event loop. With PORT 1 it refuses to start,
// with PORT 2 it crashes at once, and beside a file `refuse` it does not start.
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { connectToParent } from '../../runtime/launch.ts';

const link = await connectToParent();
const { config } = link.boot;
if (config.port === 1) {
  await link.sendFailed('port 1 is not for us');
  process.exit(1);
}
if (config.port === 2) process.abort();
if (existsSync(join(config.dataDir, '..', 'refuse'))) {
  await link.sendFailed('not at this moment');
  process.exit(1);
}

const server = createServer((request, response) => {
  if (request.url === '/abort') process.abort();
  // A loop that never turns again.
  while (request.url === '/hang');
  const seen = {
    boot: link.boot,
    pid: process.pid,
    headerBytesMax: process.env.UWS_HTTP_MAX_HEADERS_SIZE,
    execArgv: process.execArgv,
  };
  response.end(JSON.stringify(seen));
});
server.listen(config.port, config.host, () => {
  link.sendReady();
  process.stdout.write(`dummy ready ${process.pid}\n`);
});
link.onStop((reason) => {
  process.stdout.write(`dummy stops: ${reason}\n`);
  process.exit(0);
});
