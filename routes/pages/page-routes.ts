// A page of ours: one HTML at the path of its name, and its files below that. Nothing comes from
// another host, and its policy would not let it.
import { readFile } from 'node:fs/promises';
import { sourceFile } from '../../runtime/files.ts';
import { type AppRoute, defineRoute } from '../define.ts';
import { capital, fileRoutes, type PageFiles, quiet } from './page-files.ts';

export interface PageDeclaration extends PageFiles {
  summary: string;
  /** Directives of its policy beside those that every page has, or in their place. */
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

/** The routes of a page that is one HTML at `/NAME`. */
export function pageRoutes(page: PageDeclaration): AppRoute[] {
  return [htmlRoute(page), ...fileRoutes(page)];
}

/** What a reply with a page carries beside how long it is kept. */
export function pageHeaders({
  policy = [],
  permissions,
}: Pick<PageDeclaration, 'policy' | 'permissions'>): Record<string, string> {
  return {
    'content-security-policy': withOwn(policy).join('; '),
    'permissions-policy': permissions,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  };
}

/** A directive that a page has stands in the place of that of all. */
function withOwn(policy: readonly string[]): string[] {
  const nameOf = (directive: string) => directive.split(' ', 1)[0];
  const own = new Set(policy.map(nameOf));
  return [...policyOfAll.filter((directive) => !own.has(nameOf(directive))), ...policy];
}

function htmlRoute(page: PageDeclaration): AppRoute {
  const { name, summary } = page;
  const file = sourceFile(`routes/pages/${name}/page.html`);
  const headers = {
    ...pageHeaders(page),
    'cache-control': 'no-cache',
    'cross-origin-opener-policy': 'same-origin',
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
