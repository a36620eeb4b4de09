// Reads what the simulator needs from a search body. A directive may stand in the query itself:
// `[[search …]]`, or else `[[sim …]]`, so that a model and its search can be asked for two things.
import { type Directive, parseDirective, withoutDirective } from '../directive.ts';
import { isMembers } from '../members.ts';
import { missingQuery, type SerperError } from './failure.ts';

export interface SerperRequest {
  /** As it was sent, for the echo. */
  q: string;
  /** What is searched for. */
  topic: string;
  gl: string;
  hl: string;
  num: number;
  page: number;
  autocorrect: boolean;
  location: string | null;
  tbs: string | null;
  directive: Directive;
}

const numDefault = 10;
const numMax = 100;

export function readSerperRequest(body: unknown): SerperRequest | { error: SerperError } {
  if (!isMembers(body) || typeof body.q !== 'string' || body.q.trim() === '') {
    return { error: missingQuery };
  }
  const { q, gl, hl, num, page, location, tbs } = body;
  const whole = (value: unknown, fallback: number, max: number) =>
    typeof value === 'number' && value >= 1 ? Math.min(Math.floor(value), max) : fallback;
  return {
    q,
    topic: withoutDirective(q),
    gl: typeof gl === 'string' ? gl : 'us',
    hl: typeof hl === 'string' ? hl : 'en',
    num: whole(num, numDefault, numMax),
    page: whole(page, 1, numMax),
    autocorrect: body.autocorrect !== false,
    location: typeof location === 'string' ? location : null,
    tbs: typeof tbs === 'string' ? tbs : null,
    directive: parseDirective(q, q.includes('[[search') ? 'search' : 'sim'),
  };
}

/** More than one page of results costs more. */
export function creditsOf({ num }: SerperRequest): number {
  return num > numDefault ? 2 : 1;
}
