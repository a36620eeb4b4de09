// What an error of a video provider says, in whatever form it came: who is at fault, and whether
// the content was refused. Its words are read here and told to nobody.
import type { UpstreamFailure } from '../../model/events.ts';
import type { VideoReply } from './contract.ts';

/** An error in its vendor's own form; what is not said is empty. */
export interface VendorError {
  code: string;
  message: string;
}

/** How a family reads errors. */
export interface ErrorForm {
  /** The error of a body in the vendor's own form; null: it is none, or another's. */
  errorIn(body: unknown): VendorError | null;
  /** Classifies a reply that is not 2xx; a refused credential has the status 401. */
  readFailure(status: number, headers: Record<string, string>, body: string): UpstreamFailure;
}

/** A message may repeat the prompt further on. */
const wordsCharactersMax = 600;

const moderation = [
  /moderat/i,
  /content[ _-]?(policy|filter)/i,
  /safety[ _-]?(system|filter|polic|violation|setting)/i,
  /usage (guidelines|polic)/i,
  /responsible ai/i,
  /violat\w* [^.]{0,80}(polic|guideline)/i,
];

/** The content was refused: what was asked for, or what was made. */
export function isModeration({ code, message }: VendorError): boolean {
  const words = `${code} ${message}`.slice(0, wordsCharactersMax);
  return moderation.some((pattern) => pattern.test(words));
}

const rejected = /^(3$|invalid|bad_?request|unprocessable|client specified an invalid)/i;

/** Why a job has failed there. */
export function failureOf(
  error: VendorError,
): 'moderation_blocked' | 'provider_rejected' | 'provider_failed' {
  if (isModeration(error)) return 'moderation_blocked';
  return rejected.test(error.code) ? 'provider_rejected' : 'provider_failed';
}

/** The body as JSON; undefined: it is none. */
export function parsed({ body }: VideoReply): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}
