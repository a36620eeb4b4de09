// What code alone says of a page, before any model sees it. Pure: a failed gate rejects and is
// named, a doubt goes to review.
import { printDistance } from '../../media/web/print.ts';
import { givesOrders } from './orders.ts';
import { isHostAllowed } from './page-url.ts';

/** A model sees so many characters of the page's text. */
export const shownCharactersMax = 12_000;
/** Texts that differ in so few bits of 64 are one. */
export const nearBitsMax = 3;

export interface GateInput {
  /** The URL that was handed in, and where it led to. */
  evidenceUrl: string;
  finalUrl: string;
  hosts: readonly string[];
  /** Null: the task asks for none. */
  challengeCode: string | null;
  /** Visible text of the page. */
  text: string;
  print: bigint;
  /** Prints of approved texts that may be near. */
  approvedPrints: readonly bigint[];
  /** Another submission, approved or waiting, has this page. */
  isTaken: boolean;
}

export type Gate = 'host' | 'page' | 'code';

export type GateResult =
  | { status: 'passed'; checks: string[] }
  | { status: 'rejected'; gate: Gate; checks: string[] }
  | { status: 'review'; checks: string[] };

const sentences = {
  host: ['The page is on a host of the task.', 'The page is on no host of the task.'],
  page: ['No other submission has this page.', 'Another submission has this page.'],
  code: [
    'The code stands in the visible text.',
    'The code does not stand in the visible text of the page.',
  ],
} as const satisfies Record<Gate, readonly [string, string]>;

export function passGates(input: GateInput): GateResult {
  const { evidenceUrl, finalUrl, hosts, challengeCode, text } = input;
  const gates: readonly (readonly [Gate, boolean])[] = [
    ['host', isHostAllowed(evidenceUrl, hosts) && isHostAllowed(finalUrl, hosts)],
    ['page', !input.isTaken],
    ...(challengeCode === null ? [] : [['code', hasCode(text, challengeCode)] as const]),
  ];
  const checks: string[] = [];
  for (const [gate, isPassed] of gates) {
    const [good, bad] = sentences[gate];
    checks.push(isPassed ? good : bad);
    if (!isPassed) return { status: 'rejected', gate, checks };
  }
  const doubts = doubtsOf(input);
  return { status: doubts.length === 0 ? 'passed' : 'review', checks: [...checks, ...doubts] };
}

function doubtsOf({ text, print, approvedPrints }: GateInput): string[] {
  const isNear = approvedPrints.some((other) => printDistance(print, other) <= nearBitsMax);
  return [
    ...(isNear ? ['The text is nearly that of an approved submission.'] : []),
    ...(givesOrders(text.slice(0, shownCharactersMax))
      ? ['The page speaks to whoever judges it.']
      : []),
  ];
}

/** In any case of letters, and not as a part of something longer. */
export function hasCode(text: string, code: string): boolean {
  const escaped = code.replace(/[^A-Za-z0-9]/g, '\\$&');
  return new RegExp(`(?<![A-Za-z0-9-])${escaped}(?![A-Za-z0-9-])`, 'i').test(text);
}
