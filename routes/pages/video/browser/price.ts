// What a model can make and what that costs, from the public catalog. Pure, so that it is tested.
import type { Abilities, Durations, ModelEntry } from './wire.ts';

/** The specification's default; a model that does not make it gets its longest. */
const SECONDS_DEFAULT = 5;

/** Credits of one second: the most specific row, else the model's own rate. Null: it has none. */
export function rateOf(
  { video_rates = [], credits_per_second_of_video }: ModelEntry,
  resolution: string,
  hasSound: boolean,
): number | null {
  const rows = video_rates.filter((row) => row.resolution === resolution);
  const exact = rows.find(({ audio }) => audio === hasSound);
  const row = exact ?? rows.find(({ audio }) => audio === undefined);
  return row?.credits_per_second_of_video ?? credits_per_second_of_video ?? null;
}

/** Every length in whole seconds that there is at this resolution. */
export function secondsOf(abilities: Abilities, resolution: string): number[] {
  const own = listed(abilities.durations);
  const narrower = abilities.resolutions[resolution]?.durations;
  if (narrower === undefined) return own;
  const allowed = new Set(listed(narrower));
  return own.filter((seconds) => allowed.has(seconds));
}

export function defaultSeconds(seconds: readonly number[]): number {
  return seconds.includes(SECONDS_DEFAULT) ? SECONDS_DEFAULT : (seconds.at(-1) ?? SECONDS_DEFAULT);
}

/** Models that make videos, and can be asked. The managed one, which chooses, is first. */
export function videoModels(models: readonly ModelEntry[]): ModelEntry[] {
  return models
    .filter(({ available, video }) => available && video !== undefined)
    .sort((one, other) => Number(isManaged(other)) - Number(isManaged(one)));
}

export const isManaged = ({ alias }: ModelEntry): boolean => alias === 'svc-video';

function listed(durations: Durations): number[] {
  if (Array.isArray(durations)) return durations.toSorted((one, other) => one - other);
  const { min, max } = durations;
  return Array.from({ length: max - min + 1 }, (_, index) => min + index);
}
