// What a video may be asked for: keys of `../directive.ts` that make sense here, and others. There
// are faults of three kinds: of the submission, of polls, and of the file.
import { type Directive, directiveEntries, parseDirective } from '../directive.ts';

const submitFaults = [
  'cut_accepted',
  'cut_refused',
  '500_accepted',
  '429',
  'moderated_submit',
] as const;
const pollFaults = [
  'failed',
  'moderated',
  'zero_samples',
  'no_status',
  'expired',
  '403',
  '404',
  '429',
  'garbage',
  'never',
] as const;
const fileFaults = [
  'expired_link',
  'slow',
  'cut',
  'html',
  'wrong_length',
  'wrong_size',
  'no_audio',
  'truncated',
  'huge',
] as const;

export type SubmitFault = (typeof submitFaults)[number];
export type PollFault = (typeof pollFaults)[number];
export type FileFault = (typeof fileFaults)[number];

export interface VideoDirective {
  /** Keys that every family knows (`status`, `retry_after`); its `fault` is not read here. */
  base: Directive;
  renderMs: number;
  /** Polls tell how far it is, where the format can. */
  progress: boolean;
  /** What it costs; null: a price by its length. */
  priceTicks: number | null;
  submit: SubmitFault | null;
  poll: PollFault | null;
  file: FileFault | null;
  /** Where the file leads instead of being there. */
  redirect: string | null;
  /** How often a fault hits: submissions of one prompt, polls or links of one job. */
  times: number;
  kbps: number;
}

const renderMsMax = 3_600_000;
const priceTicksMax = 1e12;
const timesMax = 1_000_000;
const kbpsMax = 1_000_000;

/** The last directive in the prompt; without one, the defaults. */
export function parseVideoDirective(prompt: string): VideoDirective {
  const directive: VideoDirective = {
    base: parseDirective(prompt),
    renderMs: 300,
    progress: true,
    priceTicks: null,
    submit: null,
    poll: null,
    file: null,
    redirect: null,
    times: Number.POSITIVE_INFINITY,
    kbps: 64,
  };
  const entries = directiveEntries(prompt) ?? [];
  // Two kinds of faults have the same name: `at=poll` chooses the second one.
  const isOfPolls = entries.some(([key, value]) => key === 'at' && value === 'poll');
  for (const [key, value] of entries) {
    if (key === 'fault') addFault(directive, value, isOfPolls);
    else if (Object.hasOwn(readers, key)) readers[key]?.(directive, value);
  }
  return directive;
}

type Reader = (directive: VideoDirective, value: string) => void;

const readers: Readonly<Record<string, Reader>> = {
  render_ms: (directive, value) => {
    directive.renderMs = numberOf(value, renderMsMax) ?? directive.renderMs;
  },
  progress: (directive, value) => {
    directive.progress = value !== 'none';
  },
  price_ticks: (directive, value) => {
    directive.priceTicks = numberOf(value, priceTicksMax);
  },
  redirect: (directive, value) => {
    directive.redirect = value;
  },
  times: (directive, value) => {
    directive.times = numberOf(value, timesMax) ?? directive.times;
  },
  kbps: (directive, value) => {
    directive.kbps = numberOf(value, kbpsMax) || directive.kbps;
  },
};

/** Several with commas, each of its own kind; an address may hold anything. */
function addFault(directive: VideoDirective, value: string, isOfPolls: boolean): void {
  if (value.startsWith('redirect=')) {
    directive.redirect = value.slice('redirect='.length);
    return;
  }
  const names = value.split(',');
  const submit = submitFaults.find((fault) => names.includes(fault)) ?? null;
  const poll = pollFaults.find((fault) => names.includes(fault)) ?? null;
  directive.submit = submit === '429' && isOfPolls ? null : submit;
  directive.poll = poll === '429' && !isOfPolls ? null : poll;
  directive.file = fileFaults.find((fault) => names.includes(fault)) ?? null;
}

function numberOf(value: string, max: number): number | null {
  return /^\d{1,12}$/.test(value) ? Math.min(Number(value), max) : null;
}
