// What all pages of identity have around them: head, header, and the data that their module reads.
// The files are read once per thread, when a page is first asked for.
import { readFileSync } from 'node:fs';
import { sourceFile } from '../../../runtime/files.ts';
import type { Reply } from '../../../runtime/http/route.ts';
import { pageHeaders } from '../page-routes.ts';

export interface Framed {
  /** The file of its content in `html/`. */
  name: string;
  title: string;
  /** The entry among the modules of `browser/`. */
  module: string;
  /** For its module: data, never markup. */
  data: unknown;
  /** The page of the account that it is; left out: it is none, and leads to none. */
  current?: string;
}

const headers = {
  ...pageHeaders({ permissions: 'microphone=(), camera=(), geolocation=()' }),
  'cache-control': 'no-store',
};
const files = new Map<string, string>();

/** Pages of the account, which lead to each other. */
const accountPages = [
  ['/account', 'Account'],
  ['/account/sessions', 'Sessions'],
  ['/account/apps', 'Apps'],
  ['/account/invitations', 'Invitations'],
] as const;

export function framed({ name, title, module, data, current }: Framed): Reply {
  const members: Record<string, string> = {
    '%TITLE%': title,
    '%MODULE%': module,
    '%NAV%': current === undefined ? '' : navigation(current),
    '%MAIN%': file(name),
    // Quoted, so that the file is markup that can be checked.
    '"%DATA%"': dataText(data),
  };
  const text = file('frame').replaceAll(/"%DATA%"|%[A-Z]+%/g, (mark) => members[mark] ?? mark);
  return { status: 200, text, mediaType: 'text/html; charset=utf-8', headers };
}

function file(name: string): string {
  let text = files.get(name);
  if (text === undefined) {
    text = readFileSync(sourceFile(`routes/pages/identity/html/${name}.html`), 'utf8');
    files.set(name, text);
  }
  return text;
}

function navigation(current: string): string {
  const links = accountPages.map(([path, text]) => {
    const mark = path === current ? ' aria-current="page"' : '';
    return `<a href="${path}"${mark}>${text}</a>`;
  });
  const signOut = '<button type="button" class="small" id="sign-out">Sign out</button>';
  return `  <nav aria-label="Account">${links.join('')}</nav>\n  ${signOut}\n`;
}

/** A script element of data ends at the next `</script`, and `<!--` changes how it is read. */
function dataText(data: unknown): string {
  return JSON.stringify(data).replaceAll('<', '\\u003c');
}
