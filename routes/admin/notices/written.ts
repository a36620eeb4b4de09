// A notice as it stands once what an administrator wrote is taken over.
import type { AddressedNotice, NewNotice } from '../../../db/app/notices.ts';
import { momentOf } from '../../../runtime/http/moment.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import type { NoticePatch } from './members.ts';

/** A notice, and the accounts that it is for. */
export interface WrittenNotice {
  notice: NewNotice;
  accountIds: readonly string[];
}

/** What is absent is as it was, or as a new notice has it. @throws Problem invalid_request */
export function written(
  id: string,
  patch: NoticePatch,
  before: AddressedNotice | null,
): WrittenNotice {
  const kept = <T>(wanted: T | undefined, stored: T | undefined, fallback: T): T =>
    wanted === undefined ? (stored ?? fallback) : wanted;
  const audience = kept(patch.audience, before?.audience, 'all');
  const startsAtMs = momentMs('starts_at', patch.starts_at) ?? before?.startsAtMs ?? Date.now();
  const endsAtMs =
    patch.ends_at === undefined ? (before?.endsAtMs ?? null) : momentMs('ends_at', patch.ends_at);
  if (endsAtMs !== null && endsAtMs <= startsAtMs) {
    throw fieldProblem('ends_at', 'A notice ends behind its start.');
  }
  const ids = kept(patch.account_ids, before?.accountIds, []);
  const isNamed = audience === 'accounts';
  if (isNamed !== ids.length > 0) {
    const message = isNamed ? 'Say which accounts.' : 'Only the audience `accounts` has some.';
    throw fieldProblem('account_ids', message);
  }
  const notice: NewNotice = {
    id,
    title: kept(patch.title, before?.title, ''),
    body: kept(patch.body, before?.body, ''),
    level: kept(patch.level, before?.level, 'info'),
    actionUrl: kept<string | null>(patch.action_url, before?.actionUrl, null),
    audience,
    platforms: lowerCase(kept(patch.platforms, before?.platforms, [])),
    channels: lowerCase(kept(patch.channels, before?.channels, [])),
    appVersionMin: kept<string | null>(patch.app_version_min, before?.appVersionMin, null),
    appVersionMax: kept<string | null>(patch.app_version_max, before?.appVersionMax, null),
    startsAtMs,
    endsAtMs,
    dismissible: kept(patch.dismissible, before?.dismissible, true),
  };
  return { notice, accountIds: [...new Set(ids)] };
}

function lowerCase(names: readonly string[]): string[] {
  return names.map((name) => name.toLowerCase());
}

function momentMs(path: string, text: string | null | undefined): number | null {
  if (text === null || text === undefined) return null;
  const moment = momentOf(text);
  if (moment === null) throw fieldProblem(path, 'Expected a time such as 2026-11-27T12:00:00Z.');
  return moment.getTime();
}
