// The API reference: one page per OpenAPI document, drawn by the installed redoc bundle.
// Nothing comes from another host, and the policy of the page would not let it.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Reply, ReplyDeclaration, Route } from '../../runtime/http/route.ts';
import { createAsset } from './asset.ts';
import { darkScript, type Page, pageHtml } from './html.ts';

const scriptPath = '/docs/redoc.js';
const pages: readonly Page[] = [
  {
    path: '/docs',
    operationId: 'getModelReference',
    title: 'Model API',
    documentPath: '/api/v1/openapi.json',
  },
  {
    path: '/docs/account',
    operationId: 'getAccountReference',
    title: 'Account API',
    documentPath: '/api/openapi.json',
  },
];

/** Drawn below the menu, which the page hides; its policy refuses it, and the console says so. */
const foreignLogo = 'https://cdn.redoc.ly/redoc/logo-mini.svg';

const script = createAsset({
  load: async () => {
    const path = createRequire(import.meta.url).resolve('redoc/bundles/redoc.standalone.js');
    const text = await readFile(path, 'utf8');
    return Buffer.from(darkScript + text.replaceAll(foreignLogo, 'data:,'));
  },
  mediaType: 'text/javascript; charset=utf-8',
  maxAgeSeconds: 3_600,
});

/** Pages stand in no document and give no problems of their own. */
const quiet = {
  method: 'GET' as const,
  tag: 'pages',
  documents: [],
  cors: 'none' as const,
  problems: [],
};

/** redoc styles itself from scripts and searches in a worker made of a blob. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  'worker-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Routes of the reference; `access` is the table's value for «nobody needs to sign in». */
export function docsRoutes<Access, Caller, Services>(
  access: Access,
): Route<Access, Caller, Services>[] {
  const html: Record<number, ReplyDeclaration> = {
    200: { description: 'The page.', mediaType: 'text/html' },
  };
  const scriptReplies: Record<number, ReplyDeclaration> = {
    200: { description: 'The script.', mediaType: 'text/javascript' },
    304: { description: 'The script has not changed.' },
  };
  return [
    ...pages.map((page) => ({
      ...quiet,
      access,
      path: page.path,
      // Who opens the origin itself gets the first page.
      aliases: page === pages[0] ? ['/'] : [],
      operationId: page.operationId,
      summary: `The reference of the ${page.title}`,
      replies: html,
      handle: () => pageReply(page),
    })),
    {
      ...quiet,
      access,
      path: scriptPath,
      operationId: 'getReferenceScript',
      summary: 'The script that draws the reference',
      replies: scriptReplies,
      handle: ({ exchange }) => script(exchange),
    },
  ];
}

function pageReply(page: Page): Reply {
  return {
    status: 200,
    text: pageHtml(page, pages, scriptPath),
    mediaType: 'text/html; charset=utf-8',
    headers: {
      'content-security-policy': contentSecurityPolicy,
      'cache-control': 'public, max-age=300',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
  };
}
