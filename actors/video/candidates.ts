// Who may make a video: the models that can, are enabled and are well, in order, each with its
// price. Pure: the catalog and what is known of routes are handed in.
import {
  makesLength,
  unableTo,
  type VideoAbilities,
  type VideoMember,
  type VideoSettings,
} from '../../media/model/video.ts';
import type { VideoTarget } from '../../media/providers/video/contract.ts';
import type { Catalog } from '../catalog/current.ts';
import type { CatalogModel } from '../catalog/model.ts';
import { videoCharge } from '../wallet/price.ts';
import { videoLimits } from './limits.ts';

/** One way to make a video, as the row keeps it: it must mean the same in later builds. */
export interface Candidate {
  alias: string;
  provider: string;
  upstreamModel: string;
  routeId: string;
  family: string;
  minutesMax: number;
  /** The model always makes sound, and none was asked for. */
  dropsSound: boolean;
  /** Microcredits as text; `silent`: where sound was asked for and did not come. */
  charge: string;
  providerCost: string;
  silentCharge: string;
  silentProviderCost: string;
}

/** What is known of routes. */
export interface RouteView {
  allows(routeId: string): boolean;
  successRate(routeId: string): number;
  /** What a whole video takes, in milliseconds; null: nobody has timed one. */
  medianMs(routeId: string): number | null;
}

export type Choice =
  | { ok: true; candidates: Candidate[] }
  | { ok: false; reason: 'unknown_model' }
  /** No enabled model makes this: the member that excluded the last one. */
  | { ok: false; reason: 'unable'; member: VideoMember }
  /** All that can make it are disabled or not well. */
  | { ok: false; reason: 'unavailable' };

export interface Asked {
  /** An exact model; null: the managed route chooses. */
  exact: string | null;
  /** Null: as long as the best candidate makes it by itself. */
  durationSeconds: number | null;
  /** The model of the conversation's last video. */
  sticky: string | null;
}

/** The managed route of videos. */
export const videoRoute = 'svc-video';
/** What is made when nothing was said. */
const usualSeconds = 5;
const vendorBSeconds = 8;
const vendorBPattern = /^vendorB-/;

interface Ranked {
  model: CatalogModel;
  target: VideoTarget;
  abilities: VideoAbilities;
  quality: number;
  micros: bigint;
}

/** Fills in the length where none was asked for. */
export function lengthFor(catalog: Catalog, asked: Asked): number {
  if (asked.durationSeconds !== null) return asked.durationSeconds;
  if (asked.exact !== null && vendorBPattern.test(asked.exact)) return vendorBSeconds;
  const members = poolOf(catalog, asked.exact);
  const makes = ({ model }: Member) =>
    model.video !== null && makesLength(model.video.abilities.durations, usualSeconds);
  if (members.some(makes)) return usualSeconds;
  const best = members.reduce<Member | null>(
    (found, each) => (found === null || each.quality > found.quality ? each : found),
    null,
  );
  return best === null ? usualSeconds : firstLength(best.model);
}

function firstLength({ video }: CatalogModel): number {
  if (video === null) return usualSeconds;
  const { durations } = video.abilities;
  if (!('min' in durations)) return Math.max(...durations);
  return durations.min > usualSeconds ? durations.min : durations.max;
}

interface Member {
  model: CatalogModel;
  quality: number;
}

function poolOf(catalog: Catalog, exact: string | null): Member[] {
  if (exact !== null) {
    const model = catalog.models.get(exact);
    return model?.kind === 'video' ? [{ model, quality: 0 }] : [];
  }
  const route = catalog.routes.get(videoRoute);
  if (route === undefined || route.kind !== 'video') return [];
  return route.pool.map(({ model, quality }) => ({ model, quality }));
}

/** The candidates of a request, at most three of them, the first one first. */
export function chooseCandidates(
  catalog: Catalog,
  asked: Asked,
  settings: VideoSettings,
  routes: RouteView,
): Choice {
  const members = poolOf(catalog, asked.exact);
  if (members.length === 0) return { ok: false, reason: 'unknown_model' };
  const able: Ranked[] = [];
  let excluded: VideoMember | null = null;
  let isAble = false;
  for (const { model, quality } of members) {
    if (model.video === null) continue;
    const { abilities, targets } = model.video;
    const lacking = unableTo(settings, abilities);
    if (lacking !== null) {
      excluded = lacking;
      continue;
    }
    isAble = true;
    const { chargeMicros } = priceOf(model, settings, settings.generateAudio);
    for (const target of targets) {
      if (!routes.allows(target.routeId)) continue;
      able.push({ model, target, abilities, quality, micros: chargeMicros });
    }
  }
  if (!isAble && excluded !== null) return { ok: false, reason: 'unable', member: excluded };
  if (able.length === 0) return { ok: false, reason: 'unavailable' };
  const ordered = inOrder(able, asked, routes).slice(0, videoLimits.candidatesMax);
  return { ok: true, candidates: ordered.map((each) => candidateOf(each, settings)) };
}

/**
 * Models within a few points of the best come first: the cheapest, then who succeeds more often,
 * then who is quicker. The others follow by quality. A conversation stays with its model.
 */
function inOrder(able: readonly Ranked[], { sticky, exact }: Asked, routes: RouteView): Ranked[] {
  // The routes of an exact model stand in the order in which they were declared.
  if (exact !== null) return [...able];
  const best = Math.max(...able.map(({ quality }) => quality));
  const band = ({ quality }: Ranked) => (best - quality <= videoLimits.qualityBand ? 0 : 1);
  const speed = ({ target }: Ranked) => routes.medianMs(target.routeId) ?? Number.MAX_SAFE_INTEGER;
  const rank = (a: Ranked, b: Ranked): number => {
    if (band(a) !== band(b)) return band(a) - band(b);
    if (band(a) === 1 && a.quality !== b.quality) return b.quality - a.quality;
    if (a.micros !== b.micros) return a.micros < b.micros ? -1 : 1;
    const success = routes.successRate(b.target.routeId) - routes.successRate(a.target.routeId);
    return success === 0 ? speed(a) - speed(b) : success;
  };
  const isSticky = ({ model }: Ranked) => (model.alias === sticky ? 0 : 1);
  return [...able].sort((a, b) => isSticky(a) - isSticky(b) || rank(a, b));
}

function candidateOf({ model, target, abilities }: Ranked, settings: VideoSettings): Candidate {
  const full = priceOf(model, settings, settings.generateAudio);
  const silent = priceOf(model, settings, false);
  return {
    alias: model.alias,
    provider: providerOf(target),
    upstreamModel: target.upstreamModel,
    routeId: target.routeId,
    family: target.family,
    minutesMax: abilities.minutesMax,
    dropsSound: abilities.audio === 'always' && !settings.generateAudio,
    charge: full.chargeMicros.toString(),
    providerCost: full.providerCostMicros.toString(),
    silentCharge: silent.chargeMicros.toString(),
    silentProviderCost: silent.providerCostMicros.toString(),
  };
}

function priceOf(model: CatalogModel, settings: VideoSettings, audio: boolean) {
  const { durationSeconds: seconds, resolution } = settings;
  return videoCharge(model.card, { resolution, audio, seconds });
}

/** The name of the record: no name has a slash. */
function providerOf({ routeId }: VideoTarget): string {
  return routeId.slice(0, routeId.indexOf('/'));
}
