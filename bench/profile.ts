// Where the gateway's CPU goes: runs one bench against the gateway alone with node's CPU profiler
// in every thread, and prints the functions with the most self time, thread by thread.
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench, BenchOptions } from './benches/bench.ts';
import { textTable } from './report.ts';

const FUNCTIONS_SHOWN = 40;
const THREADS_SHOWN = 4;
const IDLE = new Set(['(idle)', '(root)', '(program)']);

interface CpuProfile {
  nodes: {
    id: number;
    callFrame: { functionName: string; url: string; lineNumber: number };
    children?: number[];
  }[];
  samples: number[];
  timeDeltas: number[];
}

interface FunctionCost {
  name: string;
  place: string;
  selfMicros: number;
}

export interface ThreadCost {
  file: string;
  busyMicros: number;
  /** Native code without a JavaScript frame: the kernel, uWebSockets, libuv. */
  programMicros: number;
  functions: FunctionCost[];
}

/** Runs the bench once with only the gateway, profiled, and prints the busiest threads. */
export async function profileGateway(bench: Bench, options: BenchOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-profile-'));
  await bench.run({ ...options, runs: 1, contenders: ['gateway'], profileFolder: folder });
  const threads: ThreadCost[] = [];
  for (const file of await readdir(folder)) {
    if (!file.endsWith('.cpuprofile')) continue;
    const profile = JSON.parse(await readFile(join(folder, file), 'utf8')) as CpuProfile;
    threads.push(summarize(file, profile));
  }
  threads.sort((a, b) => b.busyMicros - a.busyMicros);
  for (const thread of threads.slice(0, THREADS_SHOWN)) printThread(thread);
  console.log(`\n  profiles kept in ${folder} (open them in Chrome's developer tools)`);
}

/** Self time by function of one thread; recursion and inlining are the profiler's business. */
export function summarize(file: string, profile: CpuProfile): ThreadCost {
  const microsById = new Map<number, number>();
  profile.samples.forEach((id, index) => {
    microsById.set(id, (microsById.get(id) ?? 0) + (profile.timeDeltas[index] ?? 0));
  });
  const byPlace = new Map<string, FunctionCost>();
  let [busyMicros, programMicros] = [0, 0];
  for (const node of profile.nodes) {
    const selfMicros = microsById.get(node.id) ?? 0;
    const { functionName, url, lineNumber } = node.callFrame;
    if (functionName === '(program)') programMicros += selfMicros;
    if (selfMicros === 0 || IDLE.has(functionName)) continue;
    busyMicros += selfMicros;
    const name = functionName === '' ? '(anonymous)' : functionName;
    const place = url === '' ? 'native' : `${shortUrl(url)}:${lineNumber + 1}`;
    const known = byPlace.get(`${name} ${place}`);
    if (known === undefined) byPlace.set(`${name} ${place}`, { name, place, selfMicros });
    else known.selfMicros += selfMicros;
  }
  const functions = [...byPlace.values()].toSorted((a, b) => b.selfMicros - a.selfMicros);
  return { file, busyMicros: busyMicros + programMicros, programMicros, functions };
}

function shortUrl(url: string): string {
  const inModules = url.lastIndexOf('/node_modules/');
  if (inModules !== -1) return url.slice(inModules + '/node_modules/'.length);
  const inDist = url.lastIndexOf('/dist/');
  return inDist === -1 ? url : url.slice(inDist + '/dist/'.length);
}

function printThread(thread: ThreadCost): void {
  const share = (micros: number): string => `${((100 * micros) / thread.busyMicros).toFixed(1)} %`;
  const modules = new Map<string, number>();
  for (const each of thread.functions) {
    const module = each.place.replace(/:\d+$/, '');
    modules.set(module, (modules.get(module) ?? 0) + each.selfMicros);
  }
  console.log(`\n${thread.file}: ${(thread.busyMicros / 1e6).toFixed(2)} s busy`);
  const rows = [
    ['(program: native without a frame)', '', share(thread.programMicros)],
    ...thread.functions
      .slice(0, FUNCTIONS_SHOWN)
      .map((each) => [each.name, each.place, share(each.selfMicros)]),
  ];
  console.log(textTable(['function', 'place', 'self'], rows));
  const files = [...modules].toSorted((a, b) => b[1] - a[1]).slice(0, 15);
  const fileRows = files.map(([name, micros]) => [name, share(micros)]);
  console.log(`\n${textTable(['file', 'self'], fileRows)}`);
}
