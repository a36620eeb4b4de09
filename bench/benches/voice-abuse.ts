// One voice session that misbehaves among 299 that do not: how much later their audio is. Calm and
// abused windows of the same sessions alternate; who is thrown out comes back at once.
import type { Abuse } from '../load/voice-job.ts';
import type { Report } from '../report.ts';
import { median, medianInterval, rounded } from '../statistics.ts';
import type { Bench, BenchOptions } from './bench.ts';
import { progress } from './bench.ts';
import { assertAlive, SESSIONS, type Stage, startStage, type Window } from './voice-stage.ts';

/** `none` behaves as all others do: how far the figures of this machine move by themselves. */
type Kind = Abuse | 'none';
const KINDS: readonly Kind[] = ['none', 'garbage', 'flood', 'deaf'];
const WORDS: Readonly<Record<Kind, string>> = {
  none: 'what all others do',
  garbage: 'messages that mean nothing',
  flood: 'ten times the frame rate',
  deaf: 'never reading',
};
const MOVED_MAX_PERCENT = 10;
/**
 * Of one run and kind. A machine that is held up by others is so for longer than two windows, and
 * then both of a pair are worth nothing: many short ones leave enough of the others.
 */
const WINDOW_PAIRS = 24;

interface Pair {
  calm: Window;
  abused: Window;
}

async function measurePairs(stage: Stage, kind: Kind, durationMs: number): Promise<Pair[]> {
  const [gateway] = stage.contenders;
  if (gateway === undefined) throw new Error('the gateway was left out');
  await stage.open(gateway, { sessions: SESSIONS - 1, mode: 'live' });
  // Only who does not read is sent much: a burst costs the upstream time, which all share.
  const mode = kind === 'deaf' ? 'burst' : 'live';
  const pairs: Pair[] = [];
  for (let index = 0; index < WINDOW_PAIRS; index++) {
    const calm = await stage.measure(gateway, durationMs);
    await stage.open(gateway, { sessions: 1, mode, ...(kind === 'none' ? {} : { abuse: kind }) });
    const abused = await stage.measure(gateway, durationMs);
    assertAlive('gateway', abused);
    await stage.close('last');
    pairs.push({ calm, abused });
  }
  await stage.close();
  return pairs;
}

const percentMore = (before: number, after: number): number => (after / before - 1) * 100;

interface Moved {
  percent: number;
  /** Where the median of any number of pairs would lie, with 90 %. */
  interval: readonly [low: number, high: number];
}

/** Of the direction that is worse off; each window against the one before it. */
function movedOf(pairs: readonly Pair[]): Moved {
  const moved = (read: (window: Window) => number): Moved => {
    const moves = pairs.map(({ calm, abused }) => percentMore(read(calm), read(abused)));
    return { percent: median(moves), interval: medianInterval(moves) };
  };
  const up = moved(({ upMs }) => upMs.p99);
  const down = moved(({ downMs }) => downMs.p99);
  return up.percent > down.percent ? up : down;
}

const intervalText = ({ interval: [low, high] }: Moved): string =>
  `${rounded(low)} to ${rounded(high)}`;

async function measureKinds(
  options: BenchOptions,
  durationMs: number,
): Promise<ReadonlyMap<Kind, Pair[]>> {
  const stage = await startStage(['gateway'], options);
  const pairs = new Map<Kind, Pair[]>(KINDS.map((kind) => [kind, []]));
  try {
    for (let index = 0; index < options.runs; index++) {
      for (const kind of KINDS) {
        const measured = await measurePairs(stage, kind, durationMs);
        pairs.get(kind)?.push(...measured);
        const moved = movedOf(measured);
        progress(
          `run ${index + 1}/${options.runs} ${kind}: p99 moved by ${rounded(moved.percent)} % ` +
            `(${intervalText(moved)})`,
        );
      }
    }
  } finally {
    await stage.stop();
  }
  return pairs;
}

async function run(options: BenchOptions): Promise<Report> {
  const durationMs = (options.seconds ?? 1) * 1_000;
  const pairs = await measureKinds(options, durationMs);
  const figures = [...pairs].map(([kind, all]) => ({
    kind,
    // A p99 of one window is noise by itself.
    moved: movedOf(all),
    of: (read: (pair: Pair) => number) => median(all.map(read)),
  }));
  return {
    name: 'voice-abuse',
    title: `One voice session misbehaves among ${SESSIONS}`,
    method:
      `p99 of the other ${SESSIONS - 1} sessions over ${durationMs / 1000} s, without it and ` +
      `with it by turns, ${WINDOW_PAIRS} times a run: the medians, also of what each pair of ` +
      'windows moves by. It is thrown out by its limits, and comes back at once.',
    columns: [
      'it sends or does',
      'up p99 ms',
      'with it',
      'down p99 ms',
      'with it',
      'moved %',
      'with 90 %',
    ],
    rows: figures.map(({ kind, moved, of }) => [
      WORDS[kind],
      rounded(of(({ calm }) => calm.upMs.p99)),
      rounded(of(({ abused }) => abused.upMs.p99)),
      rounded(of(({ calm }) => calm.downMs.p99)),
      rounded(of(({ abused }) => abused.downMs.p99)),
      rounded(moved.percent),
      intervalText(moved),
    ]),
    bars: figures
      .filter(({ kind }) => kind !== 'none')
      .map(({ kind, moved }) => ({
        text: `p99 of the others moves by: ${WORDS[kind]}`,
        limit: MOVED_MAX_PERCENT,
        measured: moved.percent,
        unit: '%',
        sense: 'most',
      })),
    chart: {
      title: `p99 of ${SESSIONS - 1} sessions beside one that misbehaves`,
      unit: 'milliseconds, the later of both directions',
      rows: figures.flatMap(({ kind, of }) => [
        {
          label: `${kind}: without it`,
          value: of(({ calm }) => Math.max(calm.upMs.p99, calm.downMs.p99)),
        },
        {
          label: `${kind}: with it`,
          value: of(({ abused }) => Math.max(abused.upMs.p99, abused.downMs.p99)),
        },
      ]),
    },
    notes: [
      'The first row is no abuse: one session more that behaves. What moves there is the noise. ' +
        'The last column is where the median of any number of such pairs lies, with 90 %.',
    ],
  };
}

export const voiceAbuse: Bench = { name: 'voice-abuse', run };
