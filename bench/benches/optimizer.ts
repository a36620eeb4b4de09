// The context optimizer on 50 long conversations: tokens saved, facts lost, how much of each prompt
// a provider's cache still had, what that costs, and CPU.
import { applyPlan, optimizeMessages, threadBytes } from '../../media/model/optimize/optimizer.ts';
import type { OptimizerOptions } from '../../media/model/optimize/settings.ts';
import type { Message } from '../../media/model/request.ts';
import optimizeTask from '../../media/tasks/optimize.ts';
import { type Replay, replay } from '../optimizer/replay.ts';
import { benchConversations, type Conversation, isReadable } from '../optimizer/sessions.ts';
import type { Report } from '../report.ts';
import { median, rounded } from '../statistics.ts';
import { type Bench, type BenchOptions, progress } from './bench.ts';

/** What a cached input token costs of a fresh one: as in the simulated catalog. */
const CACHED_PRICE = 0.1;
const LONG_PROMPT_TOKENS = 200_000;

interface Variant {
  name: string;
  options: OptimizerOptions;
}

interface Outcome {
  tokensBefore: number;
  tokensAfter: number;
  steps: Map<string, number>;
  askedLost: number;
  othersLost: number;
  prefixKept: number;
  /** Input cost of all requests, cached tokens at a tenth, against the same unoptimized. */
  cost: number;
  cpuMicros: number;
}

const VARIANTS: readonly Variant[] = (['general', 'code', 'research'] as const).flatMap((profile) =>
  (['balanced', 'aggressive'] as const).flatMap((mode) =>
    [false, true].map((allowLossyContext) => ({
      name: `${profile} ${mode}${allowLossyContext ? ' lossy' : ''}`,
      options: { profile, mode, allowLossyContext },
    })),
  ),
);

function textsOf(messages: readonly Message[]): string[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
  );
}

function measure(variant: Variant, conversations: readonly Conversation[], runs: number): Outcome {
  const outcome: Outcome = {
    tokensBefore: 0,
    tokensAfter: 0,
    steps: new Map(),
    askedLost: 0,
    othersLost: 0,
    prefixKept: 0,
    cost: 0,
    cpuMicros: 0,
  };
  for (const { messages, asked, others } of conversations) {
    const result = optimizeMessages(messages, variant.options);
    outcome.tokensBefore += result.tokensBefore;
    outcome.tokensAfter += result.tokensAfter;
    for (const { name, tokensSaved } of result.steps) {
      outcome.steps.set(name, (outcome.steps.get(name) ?? 0) + tokensSaved);
    }
    const texts = textsOf(result.messages.slice(0, -1));
    const isLost = ({ quotes }: { quotes: string[] }): boolean => !isReadable(texts, quotes);
    outcome.askedLost += asked.filter(isLost).length;
    outcome.othersLost += others.filter(isLost).length;
  }
  outcome.cpuMicros = median(
    Array.from({ length: runs }, () => cpuOf(variant, conversations) / outcome.tokensBefore),
  );
  outcome.cpuMicros *= 1_000;
  const optimized = replayAll(conversations, (messages) => {
    return optimizeMessages(messages, variant.options).messages;
  });
  const plain = replayAll(conversations, (messages) => messages);
  outcome.prefixKept = optimized.kept / optimized.before;
  outcome.cost = costOf(optimized) / costOf(plain);
  return outcome;
}

function cpuOf({ options }: Variant, conversations: readonly Conversation[]): number {
  const before = process.cpuUsage();
  for (const { messages } of conversations) optimizeMessages(messages, options);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function replayAll(
  conversations: readonly Conversation[],
  optimize: (messages: Message[]) => Message[],
): Replay {
  const sum: Replay = { requests: 0, before: 0, kept: 0, sent: 0, fresh: 0 };
  for (const { messages } of conversations) {
    const one = replay(messages, optimize);
    for (const key of Object.keys(sum) as (keyof Replay)[]) sum[key] += one[key];
  }
  return sum;
}

function costOf({ sent, fresh }: Replay): number {
  return fresh + CACHED_PRICE * (sent - fresh);
}

/** Milliseconds that a shard works for a prompt of 200,000 tokens that a thread optimizes. */
function shardMs(conversations: readonly Conversation[], runs: number): number {
  const messages: Message[] = [];
  const options: OptimizerOptions = {
    profile: 'code',
    mode: 'aggressive',
    allowLossyContext: true,
  };
  let tokens = 0;
  for (const conversation of conversations) {
    if (tokens >= LONG_PROMPT_TOKENS) break;
    messages.push(...conversation.messages);
    tokens += optimizeMessages(conversation.messages, options).tokensBefore;
  }
  const samples = Array.from({ length: runs }, () => {
    const startedMs = performance.now();
    const input = threadBytes(messages, options);
    const cutMs = performance.now() - startedMs;
    const plan = optimizeTask(input);
    const resumedMs = performance.now();
    applyPlan(messages, plan);
    return cutMs + performance.now() - resumedMs;
  });
  return median(samples);
}

async function run(options: BenchOptions): Promise<Report> {
  const conversations = benchConversations();
  const outcomes = new Map<string, Outcome>();
  for (const variant of VARIANTS) {
    const outcome = measure(variant, conversations, options.runs);
    outcomes.set(variant.name, outcome);
    progress(`${variant.name}: ${rounded(savedPercent(outcome))} % saved`);
  }
  return report(conversations, outcomes, shardMs(conversations, Math.max(5, options.runs)));
}

function savedPercent({ tokensBefore, tokensAfter }: Outcome): number {
  return 100 * (1 - tokensAfter / tokensBefore);
}

function report(
  conversations: readonly Conversation[],
  outcomes: ReadonlyMap<string, Outcome>,
  onShardMs: number,
): Report {
  const all = [...outcomes.values()];
  const tokens = all[0]?.tokensBefore ?? 0;
  const asked = conversations.reduce((sum, each) => sum + each.asked.length, 0);
  const others = conversations.reduce((sum, each) => sum + each.others.length, 0);
  return {
    name: 'optimizer',
    title: `Context optimizer on ${conversations.length} long conversations`,
    method:
      `${rounded(tokens)} estimated tokens of coding, operations, research, article and support ` +
      `sessions in six languages, from seeds; ${asked} planted facts are asked for in the last ` +
      `turns, ${others} others are not. Prefix and cost: every request of each conversation, one ` +
      'a user turn and one a tool result, cached input at a tenth of the price.',
    columns: [
      'variant',
      'tokens saved %',
      'asked facts lost',
      `other facts lost of ${rounded(others)}`,
      'prefix kept %',
      'cost × unoptimized',
      'CPU µs per 1,000 tokens',
    ],
    rows: [...outcomes].map(([name, outcome]) => [
      name,
      rounded(savedPercent(outcome)),
      String(outcome.askedLost),
      String(outcome.othersLost),
      rounded(100 * outcome.prefixKept),
      rounded(outcome.cost),
      rounded(outcome.cpuMicros),
    ]),
    bars: barsOf(outcomes, onShardMs),
    chart: {
      title: 'Tokens that the context optimizer saves',
      unit: '% of the estimated input tokens, more is better',
      rows: [...outcomes].map(([label, outcome]) => ({
        label,
        value: savedPercent(outcome),
        higherIsBetter: true,
      })),
    },
    notes: [
      `Saved by step, code balanced: ${stepsOf(outcomes.get('code balanced'))}; code aggressive ` +
        `lossy: ${stepsOf(outcomes.get('code aggressive lossy'))}.`,
      'A fact is kept when all its quotes stand within 600 characters of each other in one ' +
        'text before the last turn. The questions name an identifier, a number, or the thing in ' +
        'other inflections; one that shares no rare word with its fact cannot be served by ' +
        'extraction, and nobody gets extraction who has not allowed it.',
    ],
  };
}

function barsOf(outcomes: ReadonlyMap<string, Outcome>, onShardMs: number): Report['bars'] {
  const all = [...outcomes.values()];
  const lossless = [...outcomes].flatMap(([name, each]) => (name.endsWith('lossy') ? [] : [each]));
  const most = { unit: '', sense: 'most' } as const;
  const percent = { unit: '%', sense: 'least' } as const;
  const lostLossless = lossless.reduce((sum, each) => sum + each.askedLost + each.othersLost, 0);
  const worst = (figure: (outcome: Outcome) => number): number => Math.max(...all.map(figure));
  const saved = (name: string): number => {
    const outcome = outcomes.get(name);
    return outcome === undefined ? Number.NaN : savedPercent(outcome);
  };
  const prefix = (some: readonly Outcome[]): number =>
    100 * Math.min(...some.map((each) => each.prefixKept));
  return [
    {
      text: 'asked facts lost, any variant',
      limit: 0,
      measured: worst((x) => x.askedLost),
      ...most,
    },
    { text: 'facts lost without lossy, all', limit: 0, measured: lostLossless, ...most },
    { text: 'saved, code balanced', limit: 18, measured: saved('code balanced'), ...percent },
    {
      text: 'saved, code aggressive lossy',
      limit: 40,
      measured: saved('code aggressive lossy'),
      ...percent,
    },
    { text: 'prefix kept, lossless', limit: 95, measured: prefix(lossless), ...percent },
    { text: 'prefix kept, all', limit: 85, measured: prefix(all), ...percent },
    { text: 'cost × unoptimized, worst', limit: 1, measured: worst((x) => x.cost), ...most },
    {
      text: 'CPU per 1,000 tokens, worst',
      limit: 150,
      measured: worst((x) => x.cpuMicros),
      unit: 'µs',
      sense: 'most',
    },
    {
      text: 'work of a shard for 200,000 tokens in a thread',
      limit: 2,
      measured: onShardMs,
      unit: 'ms',
      sense: 'most',
    },
  ];
}

function stepsOf(outcome: Outcome | undefined): string {
  const steps = [...(outcome?.steps ?? [])].toSorted((left, right) => right[1] - left[1]);
  const share = (saved: number): string => rounded((100 * saved) / (outcome?.tokensBefore ?? 1));
  return steps.map(([name, saved]) => `${name} ${share(saved)} %`).join(', ');
}

export const optimizer: Bench = { name: 'optimizer', run };
