// How numbers, times and states are written for people.
import type { Job } from './wire.ts';

const amounts = new Intl.NumberFormat('en', { maximumFractionDigits: 4 });
const counts = new Intl.NumberFormat('en');
const dates = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });

const MICROS = 1_000_000;
const TITLE_CHARACTERS = 80;

export const creditsText = (credits: number): string =>
  `${amounts.format(credits)} ${credits === 1 ? 'credit' : 'credits'}`;

export const microsText = (micros: number): string => creditsText(micros / MICROS);

export const countText = (count: number): string => counts.format(count);

export const dateText = (time: string): string => dates.format(new Date(time));

/** 65.25 as `1:05.3`; whole seconds have no fraction. */
export function clockText(seconds: number): string {
  const tenths = Math.round(seconds * 10);
  const rest = (tenths % 600) / 10;
  const tail = Number.isInteger(rest) ? String(rest) : rest.toFixed(1);
  return `${Math.floor(tenths / 600)}:${rest < 10 ? '0' : ''}${tail}`;
}

/** From a moment to another, or a moment alone: a segment may be a single frame. */
export function spanText(from: number, to: number): string {
  const [start, end] = [clockText(from), clockText(to)];
  return start === end ? start : `${start}–${end}`;
}

/** A moment for a screen reader. */
export function spokenText(seconds: number): string {
  const whole = Math.round(seconds * 10) / 10;
  return `${whole} ${whole === 1 ? 'second' : 'seconds'}`;
}

/** The prompt as one line. */
export function titleOf({ prompt }: Pick<Job, 'prompt'>): string {
  const line = prompt.replaceAll(/\s+/g, ' ').trim();
  const characters = [...line];
  if (characters.length <= TITLE_CHARACTERS) return line;
  return `${characters.slice(0, TITLE_CHARACTERS - 1).join('')}…`;
}

/** What was asked for, or what there is once it is made. */
export function settingsText(job: Job): string {
  const { video, duration_seconds, aspect_ratio, resolution, generate_audio, seed } = job;
  return [
    `${video?.durationSeconds ?? duration_seconds} s`,
    video?.aspectRatio ?? aspect_ratio,
    video?.resolution ?? resolution,
    generate_audio ? 'with sound' : 'silent',
    ...(seed === undefined ? [] : [`seed ${seed}`]),
  ].join(' · ');
}

const NOTHING = 'Nothing was charged.';

/** Where a job stands, in a sentence or less. */
export function stateText(job: Job): string {
  switch (job.status) {
    case 'queued':
      return 'Waiting for its turn';
    case 'submitting':
      return 'Being sent to a model';
    case 'running':
      if (job.phase === 'finalizing') return 'Made. Being checked and stored';
      return `Being made · ${Math.floor(job.progress)} %`;
    case 'succeeded':
      return job.video === undefined ? 'The video was deleted.' : 'Ready';
    case 'cancelled':
      return `Cancelled. ${NOTHING}`;
    case 'failed': {
      const reason = job.error_message ?? 'It failed.';
      return /Nothing (was|is) charged/.test(reason) ? reason : `${reason} ${NOTHING}`;
    }
  }
}
