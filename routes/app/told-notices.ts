// Which notices somebody is told, and how: by audience, app and time, the newest first.
import * as v from 'valibot';
import type { Notice } from '../../db/app/notices.ts';
import type { UserCaller } from '../services.ts';
import { compareVersions } from './version.ts';

const toldMax = 50;

export interface App {
  platform: string | null;
  appVersion: string | null;
  channel: string | null;
}

/** The notices told now. One for some apps is told to nobody who does not say its app. */
export function toldNow(
  notices: readonly Notice[],
  { platform, appVersion, channel }: App,
  nowMs: number,
): Notice[] {
  const isTold = (notice: Notice) =>
    notice.startsAtMs <= nowMs &&
    (notice.endsAtMs === null || notice.endsAtMs > nowMs) &&
    isAmong(notice.platforms, platform) &&
    isAmong(notice.channels, channel) &&
    isWithin(notice, appVersion);
  return notices
    .filter(isTold)
    .sort((one, other) => other.startsAtMs - one.startsAtMs || (one.id < other.id ? 1 : -1))
    .slice(0, toldMax);
}

function isAmong(wanted: readonly string[], told: string | null): boolean {
  return wanted.length === 0 || (told !== null && wanted.includes(told.toLowerCase()));
}

function isWithin({ appVersionMin, appVersionMax }: Notice, appVersion: string | null): boolean {
  if (appVersionMin === null && appVersionMax === null) return true;
  if (appVersion === null) return false;
  if (appVersionMin !== null && compareVersions(appVersion, appVersionMin) < 0) return false;
  return appVersionMax === null || compareVersions(appVersion, appVersionMax) <= 0;
}

/** The part of the board that somebody may see; null: nobody is signed in. */
export function boardNotices(notices: readonly Notice[], caller: UserCaller | null): Notice[] {
  return notices.filter(
    ({ audience }) =>
      audience === 'all' ||
      (caller !== null && (audience === 'authenticated' || (audience === 'admin' && caller.admin))),
  );
}

/** When the list of these may be another one by itself. */
export function nextMomentMs(notices: readonly Notice[], nowMs: number): number {
  const moments = notices.flatMap(({ startsAtMs, endsAtMs }) => [startsAtMs, endsAtMs ?? Infinity]);
  return Math.min(Infinity, ...moments.filter((moment) => moment > nowMs));
}

export const levels = ['info', 'success', 'warning', 'critical'] as const;

export const toldNoticeSchema = v.pipe(
  v.strictObject({
    id: v.string(),
    title: v.string(),
    body: v.string(),
    level: v.picklist(levels),
    action_url: v.nullable(v.string()),
    starts_at: v.string(),
    ends_at: v.nullable(v.string()),
    dismissible: v.boolean(),
    read: v.boolean(),
  }),
  v.title('Notification'),
);

export function toldNoticeBody(notice: Notice, read: boolean) {
  const { id, title, body, level, actionUrl, startsAtMs, endsAtMs, dismissible } = notice;
  return {
    id,
    title,
    body,
    level,
    action_url: actionUrl,
    starts_at: new Date(startsAtMs).toISOString(),
    ends_at: endsAtMs === null ? null : new Date(endsAtMs).toISOString(),
    dismissible,
    read,
  };
}
