// GET /api/browser-extension/releases: what is published, and what is current in each browser.
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { Board } from '../../db/app/board.ts';
import { browsers } from '../../db/app/releases.ts';
import { etagHeader, etagReply, type Tagged } from '../app/etag.ts';
import { defineRoute } from '../define.ts';
import { currentReleases, releaseBody, releaseSchema } from './release.ts';

const current = v.strictObject(
  Object.fromEntries(browsers.map((browser) => [browser, v.nullable(releaseSchema)])) as Record<
    (typeof browsers)[number],
    v.NullableSchema<typeof releaseSchema, undefined>
  >,
);

export const listPublishedReleases = defineRoute({
  method: 'GET',
  path: '/api/browser-extension/releases',
  operationId: 'listBrowserReleases',
  summary: 'List releases of the browser extension',
  description:
    'The newest twelve of each browser and channel. `current` is the stable release with the ' +
    'highest version, or null. `sha256` and `size_bytes` are of the archive at `archive_url`.',
  tag: 'Discovery',
  documents: ['account'],
  access: { kind: 'none' },
  cors: 'public',
  headers: etagHeader,
  replies: {
    200: {
      description: 'The releases, the newest first.',
      schema: v.strictObject({ ok: v.literal(true), current, releases: v.array(releaseSchema) }),
      headers: { etag: 'Of this list.' },
    },
    304: { description: 'The caller has this list.', headers: { etag: 'Of this list.' } },
  },
  problems: [],
  handle({ services, exchange }) {
    const { app, config } = services;
    const told = render(app.board.current(), config.baseUrl);
    return etagReply(exchange, told, 'public, max-age=300');
  },
});

const rendered = new WeakMap<Board, Tagged>();

/** Once for each board: nothing of it depends on who asks. */
function render(board: Board, baseUrl: string): Tagged {
  const known = rendered.get(board);
  if (known !== undefined) return known;
  const { releases } = board;
  const newest = currentReleases(releases).map(([browser, release]) => [
    browser,
    release === null ? null : releaseBody(release, baseUrl),
  ]);
  const body = {
    ok: true,
    current: Object.fromEntries(newest),
    releases: releases.map((release) => releaseBody(release, baseUrl)),
  };
  const text = JSON.stringify(body);
  const etag = createHash('sha256').update(text).digest('base64url').slice(0, 22);
  const told = { text, etag };
  rendered.set(board, told);
  return told;
}
