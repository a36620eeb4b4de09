// The page /voice and its files: one HTML, one stylesheet, and the modules of `browser/`, compiled
// and served one by one. Nothing comes from another host, and the page's policy would not let it.
import { readFile } from 'node:fs/promises';
import { compiledFile, sourceFile } from '../../../runtime/files.ts';
import type { ReplyDeclaration } from '../../../runtime/http/route.ts';
import { type AppRoute, defineRoute } from '../../define.ts';
import { createAsset } from '../asset.ts';

const sourceFolder = sourceFile('routes/pages/voice/');

/** Modules by their names: what is not listed is not served. */
const modules = [
  'account',
  'capture-processor',
  'connection',
  'conversation',
  'graph',
  'jitter-buffer',
  'microphone',
  'orb',
  'page',
  'playback-processor',
  'resampler',
  'speaker',
  'timings',
  'transcript',
  'view',
  'wire',
] as const;

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const headers = {
  'content-security-policy': contentSecurityPolicy,
  'permissions-policy': 'microphone=(self), camera=(), geolocation=()',
  'cache-control': 'no-cache',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

/** Pages stand in no document and give no problems of their own. */
const quiet = {
  method: 'GET' as const,
  tag: 'pages',
  documents: [],
  access: { kind: 'none' as const },
  cors: 'none' as const,
  problems: [],
};

/** Read once per thread; one that cannot be read now is read again. */
let page: string | null = null;

const voicePage = defineRoute({
  ...quiet,
  path: '/voice',
  operationId: 'getVoicePage',
  summary: 'A page to talk to the service',
  replies: { 200: { description: 'The page.', mediaType: 'text/html' } },
  handle: async ({ services }) => {
    page ??= await readFile(new URL('page.html', sourceFolder), 'utf8');
    const text = page.replace('%MODE%', services.config.mode);
    return { status: 200, text, mediaType: 'text/html; charset=utf-8', headers };
  },
});

function assetRoute(name: string, file: URL, mediaType: string): AppRoute {
  const asset = createAsset({ load: () => readFile(file), mediaType, maxAgeSeconds: 0 });
  const replies: Record<number, ReplyDeclaration> = {
    200: { description: 'The file.', mediaType: mediaType.replace(/;.*/, '') },
    304: { description: 'The file has not changed.' },
  };
  return defineRoute({
    ...quiet,
    path: `/voice/${name}`,
    operationId: `getVoicePageFile_${name.replaceAll(/\W/g, '_')}`,
    summary: `The file ${name} of the voice page`,
    replies,
    handle: ({ exchange }) => asset(exchange),
  });
}

export const voicePageRoutes: readonly AppRoute[] = [
  voicePage,
  assetRoute('page.css', new URL('page.css', sourceFolder), 'text/css; charset=utf-8'),
  ...modules.map((name) =>
    assetRoute(
      `${name}.js`,
      compiledFile(`routes/pages/voice/browser/${name}.js`),
      'text/javascript; charset=utf-8',
    ),
  ),
];
