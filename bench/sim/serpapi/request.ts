// Reads the query of a URL, and refuses what the provider would.
import { stringsOf } from '../members.ts';
import { type Engine, type EngineName, engines, isEngineName } from './engines.ts';

export type Parameters = Readonly<Record<string, string>>;

export interface SerpapiRequest {
  engine: EngineName;
  /** But the key. */
  parameters: Parameters;
  /** Texts that may hold a directive, as they were sent. */
  texts: string[];
  skipped: number;
  count: number;
}

export function readSerpapiRequest(sent: Parameters): SerpapiRequest | { error: string } {
  const name = sent.engine ?? 'google';
  if (!isEngineName(name)) return { error: `Unsupported \`${name}\` search engine.` };
  const engine: Engine = engines[name];
  const missing = engine.required.find((names) => names.every((one) => !sent[one]));
  if (missing !== undefined) return { error: `Missing query \`${missing[0]}\` parameter.` };
  const fault = faultOf(name, sent);
  if (fault !== null) return { error: fault };
  const { api_key: _, ...parameters } = sent;
  const num = Number(sent.num ?? engine.results);
  return {
    engine: name,
    parameters,
    // Flights have no text but this one.
    texts: stringsOf([...engine.topic, 'include_airlines'].map((one) => sent[one])),
    skipped: engine.skippedBy(sent),
    count: Math.min(num >= 1 ? Math.floor(num) : engine.results, engine.resultsMax),
  };
}

const isoDate = /^\d{4}-\d\d-\d\d$/;

function faultOf(name: EngineName, sent: Parameters): string | null {
  if (sent.location !== undefined && sent.uule !== undefined) {
    return "`location` and `uule` parameters can't be used together.";
  }
  for (const date of ['outbound_date', 'return_date', 'check_in_date', 'check_out_date']) {
    const value = sent[date];
    if (value !== undefined && !isoDate.test(value)) return `Invalid \`${date}\` parameter.`;
  }
  switch (name) {
    case 'google_flights':
      // Without a type it is a round trip.
      if ((sent.type ?? '1') === '1' && sent.return_date === undefined) {
        return '`return_date` is required if `type` is `1` (Round trip).';
      }
      return null;
    case 'google_maps':
      if (sent.type !== 'search') return 'Unsupported `type` parameter.';
      if (Number(sent.start ?? 0) > 0 && sent.ll === undefined) {
        return '`ll` parameter is required when using pagination.';
      }
      if (sent.ll === undefined || /^@-?[\d.]+,-?[\d.]+,[\d.]+[zm]$/.test(sent.ll)) return null;
      return 'Invalid `ll` parameter.';
    case 'google_hotels':
      return childrenFault(sent);
    default:
      return null;
  }
}

function childrenFault({ children, children_ages: ages }: Parameters): string | null {
  const told = ages === undefined ? 0 : ages.split(',').length;
  return Number(children ?? 0) === told
    ? null
    : 'Number of `children_ages` must be the same as `children`.';
}
