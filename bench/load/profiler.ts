// Loaded into a profiled gateway by `--import`: runs node's CPU profiler in every thread from the
// moment `start` appears in its folder until `stop` does, then writes one profile a thread. The
// folder is in the module's own address: the gateway refuses unknown variables.
import { existsSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

const POLL_MS = 100;
const SAMPLE_MICROS = 400;

interface Command {
  id: number;
  method: string;
  params?: object;
}

const startCommands: readonly Command[] = [
  { id: 1, method: 'Profiler.enable' },
  { id: 2, method: 'Profiler.setSamplingInterval', params: { interval: SAMPLE_MICROS } },
  { id: 3, method: 'Profiler.start' },
];
const stopCommand: Command = { id: 4, method: 'Profiler.stop' };

const folder = new URL(import.meta.url).searchParams.get('folder');
const isGateway = /runtime\/main\.js$/.test(process.argv[1] ?? '');
if (folder !== null && isMainThread && isGateway) watch(folder);

/** The main thread's inspector reaches the other threads through node's own NodeWorker domain. */
function watch(path: string): void {
  const session = new Session();
  session.connect();
  const threads = new Map<string, string>();
  const keep = (name: string, profile: object): void =>
    writeFileSync(join(path, `${name}.cpuprofile`), JSON.stringify(profile));
  session.on('NodeWorker.attachedToWorker', ({ params }) => {
    const { sessionId, workerInfo } = params;
    threads.set(sessionId, `${workerInfo.title} ${workerInfo.workerId}`.replaceAll(/\W+/g, '-'));
  });
  session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
    const reply = JSON.parse(params.message) as { id?: number; result?: { profile: object } };
    const name = threads.get(params.sessionId);
    if (reply.id === stopCommand.id && reply.result !== undefined && name !== undefined) {
      keep(name, reply.result.profile);
    }
  });
  session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
  const everywhere = (commands: readonly Command[]): void => {
    for (const sessionId of threads.keys()) {
      for (const command of commands) {
        const message = JSON.stringify(command);
        session.post('NodeWorker.sendMessageToWorker', { sessionId, message });
      }
    }
    for (const { method, params } of commands) {
      session.post(method, params ?? {}, (error, result) => {
        if (method !== stopCommand.method || error !== null) return;
        keep('main', (result as { profile: object }).profile);
      });
    }
  };
  let running = false;
  const timer = setInterval(() => {
    if (!running && existsSync(join(path, 'start'))) {
      running = true;
      everywhere(startCommands);
    } else if (running && existsSync(join(path, 'stop'))) {
      clearInterval(timer);
      everywhere([stopCommand]);
    }
  }, POLL_MS);
  timer.unref();
}
