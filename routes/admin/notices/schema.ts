// A notice as administrators write and see it.
import * as v from 'valibot';
import type { AddressedNotice } from '../../../db/app/notices.ts';
import type { Reply } from '../../../runtime/http/route.ts';
import { levels } from '../../app/told-notices.ts';
import { recordHeaders, revisionSchema } from '../revision.ts';

export const audiences = ['all', 'authenticated', 'admin', 'accounts'] as const;

export const noticeParams = v.object({
  notice_id: v.pipe(v.string(), v.regex(/^ntc_[a-f0-9]{24}$/, 'expected the id of a notice')),
});

export const noticeSchema = v.pipe(
  v.strictObject({
    id: v.string(),
    title: v.string(),
    body: v.string(),
    level: v.picklist(levels),
    action_url: v.nullable(v.string()),
    audience: v.picklist(audiences),
    account_ids: v.array(v.string()),
    platforms: v.array(v.string()),
    channels: v.array(v.string()),
    app_version_min: v.nullable(v.string()),
    app_version_max: v.nullable(v.string()),
    starts_at: v.string(),
    ends_at: v.nullable(v.string()),
    dismissible: v.boolean(),
    origin: v.picklist(['admin', 'billing']),
    created_at: v.string(),
    revision: revisionSchema,
  }),
  v.title('AdminNotice'),
);

export function noticeBody(notice: AddressedNotice) {
  return {
    id: notice.id,
    title: notice.title,
    body: notice.body,
    level: notice.level,
    action_url: notice.actionUrl,
    audience: notice.audience,
    account_ids: notice.accountIds,
    platforms: notice.platforms,
    channels: notice.channels,
    app_version_min: notice.appVersionMin,
    app_version_max: notice.appVersionMax,
    starts_at: new Date(notice.startsAtMs).toISOString(),
    ends_at: notice.endsAtMs === null ? null : new Date(notice.endsAtMs).toISOString(),
    dismissible: notice.dismissible,
    origin: notice.origin,
    created_at: new Date(notice.createdAtMs).toISOString(),
    revision: notice.revision,
  };
}

const single = v.strictObject({ ok: v.literal(true), notice: noticeSchema });
export const noticeReply = { 200: { description: 'The notice.', schema: single } };

export function noticeAnswer(status: 200 | 201, notice: AddressedNotice): Reply {
  const json = { ok: true, notice: noticeBody(notice) };
  return { status, headers: recordHeaders(notice.revision), json };
}
