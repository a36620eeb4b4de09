// What is wrong with the members of video beyond the schema. They contradict themselves, can never
// be asked for, or stand where there is no video.
import { fitsKind } from '../../../media/providers/model-kinds.ts';
import { requireVideoFamily } from '../../../media/providers/video/families.ts';
import type { ManagedRouteRecord, ModelRecord, PriceMembers, ProviderRecord } from '../document.ts';
import type { PathFault } from '../path-fault.ts';
import { secondsOf } from '../video.ts';
import type { VideoMembers } from './members.ts';

/** Faults of a model's own members; its prices are another matter. */
export function videoMemberFaults({ kind, video, capabilities }: ModelRecord): PathFault[] {
  if (kind !== 'video') {
    const faults: PathFault[] = [];
    if (video !== undefined) faults.push({ path: 'video', message: 'only video models have it' });
    if (capabilities.includes('video')) {
      faults.push({ path: 'capabilities', message: `a ${kind} model makes no video` });
    }
    return faults;
  }
  // A record that names none has those of the default.
  const others = capabilities.filter((capability) => !['chat', 'video'].includes(capability));
  const faults = others.slice(0, 1).map((capability) => ({
    path: 'capabilities',
    message: `a video model has no "${capability}"`,
  }));
  if (video === undefined) return [...faults, { path: 'video', message: 'a video model needs it' }];
  return [...faults, ...abilityFaults(video)];
}

function abilityFaults({ durations, resolutions, aspect_ratios }: VideoMembers): PathFault[] {
  const known = new Set(secondsOf(durations));
  const made = Object.entries(resolutions);
  const none = { path: 'video.resolutions', message: 'one is needed' };
  const narrowed = made.flatMap(([name, limits]): PathFault[] => {
    const own = limits?.durations;
    if (own === undefined) return [];
    const path = `video.resolutions.${name}.durations`;
    const beyond = secondsOf(own).find((length) => !known.has(length));
    const message = `${beyond} seconds are not among the durations of the model`;
    const outside = beyond === undefined ? [] : [{ path, message }];
    return [...durationFaults(own, path), ...outside];
  });
  return [
    ...durationFaults(durations, 'video.durations'),
    ...(made.length === 0 ? [none] : []),
    ...narrowed,
    ...twice(aspect_ratios, 'video.aspect_ratios'),
  ];
}

function durationFaults(durations: VideoMembers['durations'], path: string): PathFault[] {
  if (!('min' in durations)) return twice(durations, path);
  if (durations.min <= durations.max) return [];
  return [{ path: `${path}.min`, message: 'min is more than max' }];
}

function twice(values: readonly (number | string)[], path: string): PathFault[] {
  return values.flatMap((value, index): PathFault[] => {
    if (values.indexOf(value) === index) return [];
    return [{ path: `${path}[${index}]`, message: `${JSON.stringify(value)} is declared twice` }];
  });
}

/** Faults of any card: a second price of the same video. */
export function videoRateFaults(
  { video_rates: rates = [] }: PriceMembers,
  prefix: string,
): PathFault[] {
  const seen = new Set<string>();
  return rates.flatMap(({ resolution, audio }, index): PathFault[] => {
    const key = `${resolution} ${audio ?? 'both'}`;
    const sound = audio === undefined ? '' : audio ? ' with sound' : ' without sound';
    const message = `${resolution}${sound} has two prices`;
    if (seen.has(key)) return [{ path: `${prefix}video_rates[${index}]`, message }];
    seen.add(key);
    return [];
  });
}

/**
 * Faults of a model's own card: prices of what it never makes. A card that models share may have
 * prices for all of them.
 */
export function ownVideoRateFaults(
  { kind, video }: ModelRecord,
  card: PriceMembers,
  prefix: string,
): PathFault[] {
  if (kind !== 'video') {
    const members = (['per_second_of_video', 'video_rates'] as const).filter(
      (member) => card[member] !== undefined,
    );
    const message = 'only video models have it';
    return members.map((member) => ({ path: `${prefix}${member}`, message }));
  }
  if (video === undefined) return [];
  return (card.video_rates ?? []).flatMap(({ resolution, audio }, index): PathFault[] => {
    const path = `${prefix}video_rates[${index}]`;
    if (video.resolutions[resolution] === undefined) {
      return [{ path: `${path}.resolution`, message: `the model makes no ${resolution}` }];
    }
    if (audio !== true || video.audio !== 'never') return [];
    return [{ path: `${path}.audio`, message: 'the model makes no sound' }];
  });
}

/** A card that has prices of some videos needs one of all others. */
export function loneVideoRateFaults(card: PriceMembers): PathFault[] {
  if (card.video_rates === undefined || card.per_second_of_video !== undefined) return [];
  const message = 'per_second_of_video is needed beside video_rates';
  return [{ path: 'per_second_of_video', message }];
}

/** Faults of a provider: what only one of videos has, and a look-up that its format lacks. */
export function videoProviderFaults(provider: ProviderRecord): PathFault[] {
  const { family, media_hosts: hosts, idempotency } = provider;
  if (!fitsKind(family, 'video')) {
    const members = (['media_hosts', 'jobs_max', 'idempotency'] as const).filter(
      (member) => provider[member] !== undefined,
    );
    const message = 'only providers of videos have it';
    return members.map((path) => ({ path, message }));
  }
  const faults = twice(hosts ?? [], 'media_hosts');
  if (idempotency !== 'list' || requireVideoFamily(family).list !== null) return faults;
  const message = `${family} has no list of submissions`;
  return [...faults, { path: 'idempotency', message }];
}

/** Faults of a managed route of videos: what only a generation is chosen by. */
export function videoRouteFaults(route: ManagedRouteRecord): PathFault[] {
  if (route.kind !== 'video') return [];
  const faults = route.pool.flatMap(({ qualities }, index): PathFault[] => {
    if (Object.keys(qualities).length === 0) return [];
    const message = 'a video has no category of task: quality is the only one';
    return [{ path: `pool[${index}].qualities`, message }];
  });
  const message = 'only a route for generation has it';
  if (route.optimizer !== 'never') faults.push({ path: 'optimizer', message });
  if (route.cost_guard !== undefined) faults.push({ path: 'cost_guard', message });
  return faults;
}
