// `npm run bench -- NAME…`: runs benches one after the other, prints each, keeps it in results.md.
// `npm run bench -- profile NAME` runs the gateway's part under a profiler instead.
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { actors } from './actors.ts';
import { audio } from './benches/audio.ts';
import type { Bench, BenchOptions } from './benches/bench.ts';
import { choose } from './benches/choose.ts';
import { customerApp } from './benches/customer/apps.ts';
import { customerExport } from './benches/customer/export.ts';
import { customerFold } from './benches/customer/fold.ts';
import { customerKeyLimits } from './benches/customer/key-limits.ts';
import { customerSummary } from './benches/customer/summary.ts';
import { customerWebhooks } from './benches/customer/webhooks.ts';
import { failover } from './benches/failover.ts';
import { firstEvent } from './benches/first-event.ts';
import { identityAnswer } from './benches/identity/answer.ts';
import { identityFlood } from './benches/identity/flood.ts';
import { identityList } from './benches/identity/lists.ts';
import { identityLogin } from './benches/identity/logins.ts';
import { identityRefresh } from './benches/identity/refreshes.ts';
import { identitySignOut } from './benches/identity/sign-outs.ts';
import { idle } from './benches/idle.ts';
import { longPrompt } from './benches/long-prompt.ts';
import { optimizer } from './benches/optimizer.ts';
import { organizationsAudit } from './benches/organizations/audit.ts';
import { organizationsPairs } from './benches/organizations/pairs.ts';
import { organizationsSmall } from './benches/organizations/small.ts';
import { organizationsVerify } from './benches/organizations/verify.ts';
import { pairs } from './benches/pairs.ts';
import { queryAdded } from './benches/query/added.ts';
import { queryCrowd } from './benches/query/crowd.ts';
import { queryLarge } from './benches/query/large.ts';
import { queryOutage } from './benches/query/outage.ts';
import { relayFull, relayPaced } from './benches/relay.ts';
import { small } from './benches/small.ts';
import { start } from './benches/start.ts';
import { videoCreate } from './benches/video-create.ts';
import { videoFinalize } from './benches/video-finalize.ts';
import { videoFrames } from './benches/video-frames.ts';
import { videoPoll } from './benches/video-poll.ts';
import { videoServe } from './benches/video-serve.ts';
import { videoStart } from './benches/video-start.ts';
import { voiceAbuse } from './benches/voice-abuse.ts';
import { voiceCurve } from './benches/voice-curve.ts';
import { voiceMemory } from './benches/voice-memory.ts';
import { voiceRelay } from './benches/voice-relay.ts';
import { voiceResample } from './benches/voice-resample.ts';
import { voiceStart } from './benches/voice-start.ts';
import { killChildren } from './child.ts';
import type { ContenderName } from './contenders/fleet.ts';
import { describeMachine } from './machine.ts';
import { profileGateway } from './profile.ts';
import { type Findings, passes, printReport } from './report.ts';
import { keepReport } from './results.ts';
import { coldWallets, hotWallet } from './wallet.ts';

const voice: readonly Bench[] = [
  voiceRelay,
  voiceStart,
  voiceCurve,
  voiceMemory,
  voiceAbuse,
  voiceResample,
];
const video: readonly Bench[] = [
  videoCreate,
  videoStart,
  videoPoll,
  videoFinalize,
  videoServe,
  videoFrames,
];
const identity: readonly Bench[] = [
  identityAnswer,
  identitySignOut,
  identityLogin,
  identityFlood,
  identityRefresh,
  identityList,
];
const customer: readonly Bench[] = [
  customerKeyLimits,
  customerWebhooks,
  customerSummary,
  customerFold,
  customerExport,
  customerApp,
];
const organizations: readonly Bench[] = [
  organizationsPairs,
  organizationsSmall,
  organizationsAudit,
  organizationsVerify,
];
const query: readonly Bench[] = [queryAdded, queryCrowd, queryLarge, queryOutage];
const BENCHES: readonly Bench[] = [
  relayPaced,
  relayFull,
  firstEvent,
  small,
  hotWallet,
  coldWallets,
  actors,
  choose,
  idle,
  start,
  optimizer,
  ...pairs,
  failover,
  longPrompt,
  ...voice,
  audio,
  ...video,
  ...identity,
  ...customer,
  ...organizations,
  ...query,
];
const GROUPS: ReadonlyMap<string, readonly string[]> = new Map([
  ['all', BENCHES.map((bench) => bench.name)],
  ['wallet', ['wallet-hot', 'wallet-cold']],
  ['pairs', pairs.map((bench) => bench.name)],
  ['customer', customer.map((bench) => bench.name)],
  ['identity', identity.map((bench) => bench.name)],
  ['customer', customer.map((bench) => bench.name)],
  ['organizations', organizations.map((bench) => bench.name)],
  ['query', query.map((bench) => bench.name)],
  ['video', video.map((bench) => bench.name)],
  ['voice', voice.map((bench) => bench.name)],
]);
const CONTENDERS: readonly ContenderName[] = ['direct', 'nginx', 'bare', 'gateway', 'portkey'];
const resultsFolder = fileURLToPath(new URL('../../bench/', import.meta.url));

const USAGE = `usage: npm run bench -- [profile] NAME… [options]
names: ${[...BENCHES.map((bench) => bench.name), ...GROUPS.keys()].join(', ')}
  --runs N             runs of each contender, the median counts (3)
  --seconds N          length of a measured window (each bench has its own)
  --shards N           shard threads of the gateway, threads of bare, workers of nginx (2)
  --scale N            the share of the rows that benches of many rows make (1)
  --contenders A,B     only these of ${CONTENDERS.join(', ')}; the results are not kept then
  --dry                do not touch bench/results.md`;

interface Command {
  profile: boolean;
  benches: Bench[];
  options: BenchOptions;
  keep: boolean;
}

function readCommand(): Command | null {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      runs: { type: 'string', default: '3' },
      seconds: { type: 'string' },
      shards: { type: 'string', default: '2' },
      scale: { type: 'string', default: '1' },
      contenders: { type: 'string' },
      dry: { type: 'boolean', default: false },
    },
  });
  const profile = positionals[0] === 'profile';
  const asked = profile ? positionals.slice(1) : positionals;
  const names = asked.flatMap((name) => GROUPS.get(name) ?? [name]);
  const benches = BENCHES.filter((bench) => names.includes(bench.name));
  const known = names.every((name) => benches.some((each) => each.name === name));
  const contenders = values.contenders?.split(',') ?? null;
  const contendersKnown = contenders?.every((name) => CONTENDERS.some((each) => each === name));
  if (benches.length === 0 || !known || contendersKnown === false) return null;
  const [runs, shards] = [Number(values.runs), Number(values.shards)];
  const seconds = values.seconds === undefined ? null : Number(values.seconds);
  if (![runs, shards].every((count) => Number.isSafeInteger(count) && count > 0)) return null;
  if (seconds !== null && !(seconds > 0)) return null;
  const scale = Number(values.scale);
  if (!(scale > 0 && scale <= 1)) return null;
  const options: BenchOptions = {
    runs,
    scale,
    shards,
    seconds,
    contenders: contenders as ContenderName[] | null,
  };
  const keep = !values.dry && contenders === null && scale === 1;
  return { profile, benches, options, keep };
}

function commandText(): string {
  return `npm run bench -- ${process.argv.slice(2).join(' ')}`;
}

/** A bar without its contender says nothing: with `--contenders` some are left out. */
function measuredOnly(report: Findings): Findings {
  return { ...report, bars: report.bars.filter((bar) => Number.isFinite(bar.measured)) };
}

async function main(): Promise<number> {
  const command = readCommand();
  if (command === null) {
    console.error(USAGE);
    return 2;
  }
  console.log(describeMachine());
  let failedBars = 0;
  for (const bench of command.benches) {
    console.log(`\n${bench.name}`);
    const loadBefore = loadavg()[0] ?? 0;
    if (command.profile) {
      await profileGateway(bench, command.options);
      continue;
    }
    const report = measuredOnly(await bench.run(command.options));
    printReport(report);
    failedBars += report.bars.filter((bar) => !passes(bar)).length;
    if (command.keep) {
      await keepReport(resultsFolder, report, { command: commandText(), loadBefore });
      console.log('\n  kept in bench/results.md');
    }
  }
  return failedBars === 0 ? 0 : 1;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => process.exit(130));
}
process.once('exit', killChildren);
try {
  process.exitCode = await main();
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  console.error(code?.startsWith('ERR_PARSE_ARGS') ? `${message}\n${USAGE}` : error);
  process.exitCode = 2;
}
