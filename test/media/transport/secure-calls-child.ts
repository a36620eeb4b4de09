// A process that calls an origin twice and prints what came: which certificates it trusts is
// decided when a process starts.
import { Connections } from '../../../media/transport/connections.ts';

const [origin = ''] = process.argv.slice(2);
const connections = new Connections({ connectionsMax: 1, idleMs: 1_000 });

function call(): Promise<string> {
  return new Promise((resolve) => {
    let body = '';
    const request = { origin, path: '/', method: 'POST', headers: {}, body: '' };
    connections.dispatch(request, {
      onRequestStart() {},
      onResponseStart() {},
      onResponseData(_controller, piece) {
        body += piece.toString();
      },
      onResponseEnd: () => resolve(body),
      onResponseError: (_controller, error) => resolve(String((error as { code?: string }).code)),
    });
  });
}

const told = [await call(), await call()];
process.stdout.write(JSON.stringify(told));
connections.close();
