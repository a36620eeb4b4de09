// Reads what the simulator needs from a search body.
import { isMembers } from '../members.ts';
import type { SearchDirective } from '../search/directive.ts';
import { ageDaysOf, type Found, findAll } from '../search/found.ts';
import { topicOf } from '../search/query.ts';
import { missingQuery, type SerperError } from './failure.ts';

export interface SerperRequest {
  /** As it was sent, for the echo. */
  q: string;
  gl: string;
  hl: string;
  num: number;
  page: number;
  autocorrect: boolean;
  location: string | null;
  tbs: string | null;
  ll: string | null;
}

const numDefault = 10;
const numMax = 100;

export function readSerperRequest(body: unknown): SerperRequest | { error: SerperError } {
  if (!isMembers(body) || typeof body.q !== 'string' || body.q.trim() === '') {
    return { error: missingQuery };
  }
  const { q, gl, hl, num, page, location, tbs, ll } = body;
  const whole = (value: unknown, fallback: number, max: number) =>
    typeof value === 'number' && value >= 1 ? Math.min(Math.floor(value), max) : fallback;
  return {
    q,
    gl: typeof gl === 'string' ? gl : 'us',
    hl: typeof hl === 'string' ? hl : 'en',
    num: whole(num, numDefault, numMax),
    page: whole(page, 1, numMax),
    autocorrect: body.autocorrect !== false,
    location: typeof location === 'string' ? location : null,
    tbs: typeof tbs === 'string' ? tbs : null,
    ll: typeof ll === 'string' ? ll : null,
  };
}

export function findFor({ q, num, page, tbs }: SerperRequest, directive: SearchDirective): Found[] {
  return findAll({
    topic: topicOf(q),
    skipped: (page - 1) * num,
    count: num,
    ageDaysMax: tbs?.startsWith('qdr:') === true ? ageDaysOf(tbs) : null,
    directive,
  });
}

/** More than one page of results costs more. */
export function creditsOf({ num }: SerperRequest): number {
  return num > numDefault ? 2 : 1;
}
