// Figures as people read them. Pure, so that it is tested.
import type { Item, Normalized, Price, Reply } from './wire.ts';

/** At most six places, none of them a closing zero. */
export function creditsText(micros: number): string {
  const credits = micros / 1_000_000;
  const text = credits.toLocaleString('en-US', { maximumFractionDigits: 6 });
  return `${text} ${credits === 1 ? 'credit' : 'credits'}`;
}

export function priceText({ amount, currency }: Price): string {
  return currency === '' ? amount : `${amount} ${currency}`;
}

export function durationText(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function distanceText(meters: number): string {
  return meters < 1_000 ? `${Math.round(meters)} m` : `${(meters / 1_000).toFixed(1)} km`;
}

/** `2026-01-03`, or what the provider says of it. */
export function dateText({ published_at, published_text }: Item): string | null {
  return published_at?.slice(0, 10) ?? published_text ?? null;
}

/** What came of it, in a line. */
export function outcomeText({ items, empty, partial, cache }: Normalized): string {
  if (empty) return 'Nothing was found. Nothing was charged.';
  const count = items.length === 1 ? '1 result' : `${items.length} results`;
  const parts = [partial ? `${count}, but not all that was asked for` : count];
  if (cache.hit) parts.push(`kept for ${durationText(cache.age_seconds)}`);
  return parts.join(' · ');
}

export function chargeText({
  charge_microcredits,
  remaining_microcredits,
  replayed,
}: Reply): string {
  const left = `${creditsText(remaining_microcredits)} left`;
  if (replayed) return `A repetition, for nothing · ${left}`;
  if (charge_microcredits === 0) return `Free · ${left}`;
  return `${creditsText(charge_microcredits)} charged · ${left}`;
}

export function enginesText({ engines }: Normalized): string {
  const tried = engines.map(({ name, state, ms }) => `${name} ${state}, ${Math.round(ms)} ms`);
  return tried.length === 0 ? 'Nobody was asked.' : tried.join(' · ');
}

/** A local time without its zone: `2026-12-12 10:25`. */
export const timeText = (moment: string): string => moment.replace('T', ' ').slice(0, 16);
