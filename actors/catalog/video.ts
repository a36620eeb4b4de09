// Video in the catalog, as shards use it and as the public sees it. A pool is shown at the price
// of its dearest model.
import {
  type VideoAbilities,
  type VideoDurations,
  type VideoRatio,
  type VideoResolution,
  videoRatios,
  videoResolutions,
} from '../../media/model/video.ts';
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';
import type { VideoTarget } from '../../media/providers/video/contract.ts';
import { requireVideoFamily } from '../../media/providers/video/families.ts';
import type { PublicVideoRate } from '../wallet/public-rates.ts';
import type { ProviderRecord } from './document.ts';
import { type VideoMembers, videoSecondsMax, videoSecondsMin } from './video/members.ts';

/** Jobs that a provider may have at once where its record does not say. */
const jobsMaxDefault = 10;

/** What a video model, or one of a pool, can make: the member `video` of public entries. */
export interface PublicVideo {
  durations: number[] | { min: number; max: number };
  resolutions: Partial<
    Record<VideoResolution, { durations?: number[] | { min: number; max: number } }>
  >;
  aspect_ratios: VideoRatio[];
  audio: VideoAbilities['audio'];
  seed: boolean;
  minutes_max: number;
}

/** Members of public entries that only video has. */
export interface PublicVideoMembers {
  credits_per_second_of_video?: number;
  video_rates?: PublicVideoRate[];
  video?: PublicVideo;
}

/** Every whole second of them that can be asked for, ascending. */
export function secondsOf(durations: VideoDurations): number[] {
  if (!('min' in durations)) return [...durations].sort((left, right) => left - right);
  const { min, max } = durations;
  return Array.from({ length: Math.max(0, max - min + 1) }, (_, index) => min + index);
}

export function abilitiesOf(members: VideoMembers): VideoAbilities {
  return {
    durations: members.durations,
    // The schema leaves absent members out; only its type says that they may be undefined.
    resolutions: members.resolutions as VideoAbilities['resolutions'],
    aspectRatios: members.aspect_ratios,
    audio: members.audio,
    seed: members.seed,
    minutesMax: members.minutes_max,
  };
}

/** A route of a video model with what its provider says of videos. */
export function videoTarget(target: UpstreamTarget, provider: ProviderRecord): VideoTarget {
  const { media_hosts, jobs_max, idempotency } = provider;
  const hasList = requireVideoFamily(provider.family).list !== null;
  return {
    ...target,
    mediaHosts: media_hosts ?? [],
    jobsMax: jobs_max ?? jobsMaxDefault,
    idempotency: idempotency ?? (hasList ? 'list' : 'none'),
  };
}

export function publicVideo(abilities: VideoAbilities): PublicVideo {
  const { durations, resolutions, aspectRatios, audio, seed, minutesMax } = abilities;
  return {
    durations: shown(durations),
    resolutions: Object.fromEntries(
      Object.entries(resolutions).map(([name, { durations: own }]) => [
        name,
        own === undefined ? {} : { durations: shown(own) },
      ]),
    ),
    aspect_ratios: [...aspectRatios],
    audio,
    seed,
    minutes_max: minutesMax,
  };
}

function shown(durations: VideoDurations): PublicVideo['durations'] {
  return 'min' in durations ? durations : secondsOf(durations);
}

/** A model of a pool, as the public sees it. */
interface PooledVideo {
  abilities: VideoAbilities;
  public: PublicVideoMembers;
}

/**
 * What a pool is shown as: everything that one of its models can make, each at the price of the
 * dearest that makes it. Not every combination is made: a request says which one it wants.
 */
export function pooledVideo(pool: readonly PooledVideo[]): PublicVideoMembers {
  const abilities = pool.map((entry) => entry.abilities);
  const base = Math.max(0, ...pool.map((entry) => entry.public.credits_per_second_of_video ?? 0));
  return {
    credits_per_second_of_video: base,
    video_rates: videoResolutions.flatMap((resolution) => dearestRates(pool, resolution, base)),
    video: publicVideo({
      ...unitedLengths(abilities),
      aspectRatios: videoRatios.filter((ratio) =>
        abilities.some(({ aspectRatios }) => aspectRatios.includes(ratio)),
      ),
      audio: unitedAudio(abilities),
      seed: abilities.some(({ seed }) => seed),
      minutesMax: Math.max(0, ...abilities.map(({ minutesMax }) => minutesMax)),
    }),
  };
}

/** Rows for what costs something else than the base; one where sound makes no difference. */
function dearestRates(
  pool: readonly PooledVideo[],
  resolution: VideoResolution,
  base: number,
): PublicVideoRate[] {
  const making = pool.filter(({ abilities }) => abilities.resolutions[resolution] !== undefined);
  const sounding = making.filter(({ abilities }) => abilities.audio !== 'never');
  const dearest = (models: readonly PooledVideo[], audio: boolean) =>
    Math.max(0, ...models.map((model) => shownRate(model.public, resolution, audio)));
  const row = (rate: number, members: { audio?: boolean }): PublicVideoRate[] =>
    rate === base ? [] : [{ resolution, ...members, credits_per_second_of_video: rate }];
  if (making.length === 0) return [];
  const silent = dearest(making, false);
  if (sounding.length === 0) return row(silent, {});
  const loud = dearest(sounding, true);
  if (silent === loud) return row(silent, {});
  return [...row(loud, { audio: true }), ...row(silent, { audio: false })];
}

function shownRate(entry: PublicVideoMembers, resolution: VideoResolution, audio: boolean): number {
  const rows = (entry.video_rates ?? []).filter((row) => row.resolution === resolution);
  const row =
    rows.find((each) => each.audio === audio) ?? rows.find((each) => each.audio === undefined);
  return row?.credits_per_second_of_video ?? entry.credits_per_second_of_video ?? 0;
}

function unitedLengths(
  pool: readonly VideoAbilities[],
): Pick<VideoAbilities, 'durations' | 'resolutions'> {
  const all = united(pool.map(({ durations }) => durations));
  const resolutions: VideoAbilities['resolutions'] = {};
  for (const name of videoResolutions) {
    const making = pool.filter(({ resolutions: made }) => made[name] !== undefined);
    if (making.length === 0) continue;
    const own = united(
      making.map(({ durations, resolutions: made }) => made[name]?.durations ?? durations),
    );
    const isNarrower = secondsOf(own).length < secondsOf(all).length;
    resolutions[name] = isNarrower ? { durations: own } : {};
  }
  return { durations: all, resolutions };
}

/** A range where one of them is one and nothing is missing; else a list. */
function united(many: readonly VideoDurations[]): VideoDurations {
  const made = new Set(many.flatMap(secondsOf));
  const all = secondsOf({ min: videoSecondsMin, max: videoSecondsMax });
  const seconds = all.filter((second) => made.has(second));
  const [min, max] = [seconds.at(0), seconds.at(-1)];
  const isRange = many.some((durations) => 'min' in durations);
  if (!isRange || min === undefined || max === undefined) return seconds;
  return seconds.length === max - min + 1 ? { min, max } : seconds;
}

function unitedAudio(pool: readonly VideoAbilities[]): VideoAbilities['audio'] {
  const [first] = pool;
  if (first === undefined) return 'never';
  return pool.every(({ audio }) => audio === first.audio) ? first.audio : 'optional';
}
