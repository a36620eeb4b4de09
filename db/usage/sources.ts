// Where usage comes from: a row for each kind of holder that charges, with what its rows say of a
// request. A holder without one ends the process at its start.
import assert from 'node:assert/strict';
import type { HolderRows } from '../ledger/holder.ts';
import { holderRows } from '../ledger/holders.ts';
import type { Figure } from './figures.ts';

export const usageKinds = [
  'generation',
  'speech',
  'transcription',
  'voice',
  'video',
  'analysis',
  'query',
] as const;
export type UsageKind = (typeof usageKinds)[number];

/** Which model made a video is told to nobody. */
const videoModel = 'svc-video';

/** Kinds of requests with a row of generations, by their canonical routes. */
export const kindsByRoute: Readonly<Record<string, UsageKind>> = {
  '/v1/chat/completions': 'generation',
  '/v1/responses': 'generation',
  '/v1/messages': 'generation',
  '/api/v1/llm/responses': 'generation',
  '/v1/audio/speech': 'speech',
  '/v1/audio/transcriptions': 'transcription',
  '/v1/video/analyses': 'analysis',
  '/api/v1/query': 'query',
};

/** What of a row is counted: those that every row has are not in here. */
type Measured = Exclude<Figure, 'requests' | 'failed' | 'settled' | 'charge_micros'>;

interface Source {
  /** All that its rows may be. */
  kinds: readonly UsageKind[];
  /** Expressions over columns of its table. */
  kind: string;
  model: string;
  /** Empty: its rows do not say it. */
  provider: string;
  failed: string;
  measured: Readonly<Partial<Record<Measured, string>>>;
}

/** A source with the table that it reads. */
export interface UsageSource extends Source {
  readonly holder: HolderRows;
}

const usageMember = (name: string) => `coalesce((usage ->> '${name}')::bigint, 0)`;
const isSettled = 'charge_micros IS NOT NULL';

function kindOfRoute(): string {
  const others = Object.entries(kindsByRoute).filter(([, kind]) => kind !== 'generation');
  const cases = others.map(([route, kind]) => `WHEN '${route}' THEN '${kind}'`).join(' ');
  return `CASE route ${cases} ELSE 'generation' END`;
}

const sourcesByHolder: Readonly<Record<string, Source>> = {
  generation: {
    kinds: ['generation', 'speech', 'transcription', 'analysis', 'query'],
    kind: kindOfRoute(),
    model: 'model',
    provider: "''",
    failed: "status = 'failed'",
    measured: {
      input_tokens: usageMember('input_tokens'),
      cached_input_tokens: usageMember('cached_input_tokens'),
      cache_write_tokens: usageMember('cache_write_tokens'),
      output_tokens: usageMember('output_tokens'),
      reasoning_tokens: usageMember('reasoning_tokens'),
      search_calls: usageMember('search_calls'),
      milliseconds: usageMember('milliseconds'),
      characters: usageMember('characters'),
    },
  },
  voice_session: {
    kinds: ['voice'],
    kind: "'voice'",
    model: 'model',
    provider: "''",
    // Neither the client nor a limit has ended these.
    failed: "reason IN ('error', 'upstream_closed', 'rejected', 'recovered')",
    measured: {
      input_tokens: 'input_speech_tokens + input_text_tokens',
      output_tokens: 'output_speech_tokens + output_text_tokens',
      search_calls: 'search_calls',
      milliseconds: `CASE WHEN ${isSettled}
        THEN (extract(epoch FROM ended_at - created_at) * 1000)::bigint ELSE 0 END`,
    },
  },
  video_job: {
    kinds: ['video'],
    kind: "'video'",
    model: `'${videoModel}'`,
    provider: "coalesce(provider, '')",
    failed: "status = 'failed'",
    measured: {
      output_tokens: usageMember('completion_tokens'),
      milliseconds: `CASE WHEN ${isSettled} THEN duration_seconds * 1000 ELSE 0 END`,
    },
  },
};

/** The sources of these holders. @throws Where one has none, or one is of no holder. */
export function sourcesOf(holders: readonly HolderRows[]): UsageSource[] {
  assert.deepEqual(
    Object.keys(sourcesByHolder).sort(),
    holders.map(({ kind }) => kind).sort(),
    'usage is counted of every holder, each in a way of its own',
  );
  return holders.flatMap((holder) => {
    const source = sourcesByHolder[holder.kind];
    return source === undefined ? [] : [{ ...source, holder }];
  });
}

export const usageSources = sourcesOf(holderRows);

/** When an id was made, in milliseconds: 12 hex behind its prefix. */
function millisecondsOfId({ holder }: UsageSource): string {
  const place = holder.idPrefix.length + 2;
  return `('x0000' || substr(id, ${place}, 12))::bit(64)::bigint`;
}

const quarterSeconds = 900;

/** The quarter in which a row began, and its day. */
function timesOf(source: UsageSource): { quarter: string; day: string } {
  const ms = millisecondsOfId(source);
  return {
    quarter: `to_timestamp(${ms} / ${quarterSeconds * 1_000} * ${quarterSeconds})`,
    day: `date '1970-01-01' + (${ms} / 86400000)::integer`,
  };
}

/** The state of a row that has not ended, as a condition. */
export function runningText({ holder: { state, live } }: UsageSource): string {
  return `${state} IN (${live.map((value) => `'${value}'`).join(', ')})`;
}

/** Expressions of the figures of one ended row. */
function figuresOf({ failed, measured }: Source): string[] {
  const all: Record<Figure, string> = {
    requests: '1',
    failed: `coalesce(${failed}, false)::integer`,
    settled: `(${isSettled})::integer`,
    input_tokens: '0',
    cached_input_tokens: '0',
    cache_write_tokens: '0',
    output_tokens: '0',
    reasoning_tokens: '0',
    search_calls: '0',
    milliseconds: '0',
    characters: '0',
    charge_micros: 'coalesce(charge_micros, 0)',
    ...measured,
  };
  return Object.entries(all).map(([name, text]) => `(${text})::bigint AS ${name}`);
}

/**
 * Ended rows of a source, each with its keys, `at`, `day` and figures. `where` is over the columns
 * of its table.
 */
export function endedRows(source: UsageSource, where: string, from = source.holder.table): string {
  const { quarter, day } = timesOf(source);
  return `SELECT ${quarter} AS at, ${day} AS day, wallet_id, account_id,
      coalesce(api_key_id, '') AS api_key_id, ${source.kind} AS kind, ${source.model} AS model,
      ${source.provider} AS provider, ${figuresOf(source).join(', ')}
    FROM ${from} WHERE NOT ${runningText(source)} AND ${where}`;
}
