// A page of ours and its files: one HTML, one stylesheet, and the modules of its `browser/`,
// compiled and served one by one. Nothing comes from another host, and its policy would not let it.
import { readFile } from 'node:fs/promises';
import { compiledFile, sourceFile } from '../../runtime/files.ts';
import type { ReplyDeclaration } from '../../runtime/http/route.ts';
import { type AppRoute, defineRoute } from '../define.ts';
import { createAsset } from './asset.ts';

export interface PageDeclaration {
  /** Both its path and its folder here. */
  name: string;
  summary: string;
  /** Files of `browser/` by their names. What is not listed is not served. */
  modules: readonly string[];
  /** Directives of its policy beside those that every page has. */
  policy?: readonly string[];
  permissions: string;
}

const policyOfAll = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

/** Pages stand in no document and give no problems of their own. */
const quiet = {
  method: 'GET' as const,
  tag: 'pages',
  documents: [],
  access: { kind: 'none' as const },
  cors: 'none' as const,
  problems: [],
};

/** What every page looks like stands before what is its own. */
const baseStyle = sourceFile('routes/pages/base.css');

export function pageRoutes(page: PageDeclaration): AppRoute[] {
  const folder = sourceFile(`routes/pages/${page.name}/`);
  const styles = [baseStyle, new URL('page.css', folder)];
  return [
    htmlRoute(page, new URL('page.html', folder)),
    fileRoute(page.name, 'page.css', styles, 'text/css; charset=utf-8'),
    ...page.modules.map((module) => {
      const file = compiledFile(`routes/pages/${page.name}/browser/${module}.js`);
      return fileRoute(page.name, `${module}.js`, [file], 'text/javascript; charset=utf-8');
    }),
  ];
}

function htmlRoute({ name, summary, policy = [], permissions }: PageDeclaration, file: URL) {
  const headers = {
    'content-security-policy': [...policyOfAll, ...policy].join('; '),
    'permissions-policy': permissions,
    'cache-control': 'no-cache',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  };
  /** Read once per thread; one that cannot be read now is read again. */
  let html: string | null = null;
  return defineRoute({
    ...quiet,
    path: `/${name}`,
    operationId: `get${capital(name)}Page`,
    summary,
    replies: { 200: { description: 'The page.', mediaType: 'text/html' } },
    handle: async ({ services }) => {
      html ??= await readFile(file, 'utf8');
      const { mode, webUrl } = services.config;
      const text = html.replace('%MODE%', mode).replace('%WEB%', new URL(webUrl).origin);
      return { status: 200, text, mediaType: 'text/html; charset=utf-8', headers };
    },
  });
}

function fileRoute(page: string, name: string, files: readonly URL[], mediaType: string): AppRoute {
  const load = async () => Buffer.concat(await Promise.all(files.map((file) => readFile(file))));
  const asset = createAsset({ load, mediaType, maxAgeSeconds: 0 });
  const replies: Record<number, ReplyDeclaration> = {
    200: { description: 'The file.', mediaType: mediaType.replace(/;.*/, '') },
    304: { description: 'The file has not changed.' },
  };
  return defineRoute({
    ...quiet,
    path: `/${page}/${name}`,
    operationId: `get${capital(page)}PageFile_${name.replaceAll(/\W/g, '_')}`,
    summary: `The file ${name} of the ${page} page`,
    replies,
    handle: ({ exchange }) => asset(exchange),
  });
}

const capital = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
