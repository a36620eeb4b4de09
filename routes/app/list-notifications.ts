// GET /api/app/notifications: what the service has to say to whoever uses an app. From memory; what
// is an account's own is read now and then.
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { Board } from '../../db/app/board.ts';
import { maxCharacters } from '../../runtime/http/text.ts';
import { RecentMap } from '../../runtime/transient.ts';
import { defineRoute } from '../define.ts';
import { pageSchema } from '../page.ts';
import type { AnonymousCaller, Services, UserCaller } from '../services.ts';
import { etagHeader, etagReply } from './etag.ts';
import {
  type App,
  boardNotices,
  nextMomentMs,
  toldNoticeBody,
  toldNoticeSchema,
  toldNow,
} from './told-notices.ts';

const named = v.optional(v.pipe(v.string(), maxCharacters(40)));

export const listNotifications = defineRoute({
  method: 'GET',
  path: '/api/app/notifications',
  operationId: 'listNotifications',
  summary: 'List the notices that are told now',
  description:
    'Up to 50, the newest first; there is no further page. Whoever is signed in gets those for ' +
    'the signed in and for its account too, an administrator those for administrators. A notice ' +
    'for some apps is told where `platform`, `app_version` and `channel` say that it is one of ' +
    'them. A credential that is wrong is 401.',
  tag: 'Apps',
  documents: ['account'],
  access: { kind: 'optional-user' },
  cors: 'web',
  headers: etagHeader,
  query: v.object({ platform: named, app_version: named, channel: named }),
  replies: {
    200: {
      description: 'The notices.',
      schema: pageSchema(toldNoticeSchema),
      headers: { etag: 'Of this list.' },
    },
    304: { description: 'The caller has this list.', headers: { etag: 'Of this list.' } },
  },
  problems: ['dependency_unavailable'],
  async handle({ query, caller, services, exchange }) {
    const { platform = null, app_version: appVersion = null, channel = null } = query;
    const told = await render({ platform, appVersion, channel }, caller, services);
    return etagReply(exchange, told, 'private, no-cache');
  },
});

interface Rendered {
  text: string;
  etag: string;
  /** Until when it is the same by itself. */
  untilMs: number;
}

/** What nobody in particular is told, by app, for as long as there is this board. */
const anonymous = new WeakMap<Board, RecentMap<string, Rendered>>();
const appsMin = 256;

function render(
  app: App,
  caller: UserCaller | AnonymousCaller,
  { app: { board, notices } }: Pick<Services, 'app'>,
): Rendered | Promise<Rendered> {
  const nowMs = Date.now();
  const current = board.current();
  if (caller.kind === 'anonymous') return renderAnonymous(current, app, nowMs);
  return notices.of(caller.accountId).then((own) => {
    const all = [...boardNotices(current.notices, caller), ...own.notices];
    return renderList(all, app, new Set(own.read), nowMs);
  });
}

function renderAnonymous(board: Board, app: App, nowMs: number): Rendered {
  const known = anonymous.get(board) ?? new RecentMap<string, Rendered>(appsMin);
  anonymous.set(board, known);
  const key = JSON.stringify([app.platform, app.appVersion, app.channel]);
  const before = known.get(key);
  if (before !== undefined && before.untilMs > nowMs) return before;
  const rendered = renderList(boardNotices(board.notices, null), app, new Set(), nowMs);
  known.set(key, rendered);
  return rendered;
}

function renderList(
  notices: Parameters<typeof toldNow>[0],
  app: App,
  read: ReadonlySet<string>,
  nowMs: number,
): Rendered {
  const data = toldNow(notices, app, nowMs).map((each) => toldNoticeBody(each, read.has(each.id)));
  const text = JSON.stringify({ ok: true, data, next_cursor: null });
  const etag = createHash('sha256').update(text).digest('base64url').slice(0, 22);
  return { text, etag, untilMs: nextMomentMs(notices, nowMs) };
}
