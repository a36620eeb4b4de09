// Who may see a page: some are of who is signed in, who is sent to /signin first otherwise. Others
// are of who is not yet.
import * as v from 'valibot';
import type { Reply } from '../../../runtime/http/route.ts';
import { type AppRoute, defineRoute } from '../../define.ts';
import type { Services } from '../../services.ts';
import { quiet } from '../page-files.ts';
import { returnPath, signInPath } from './browser/return-to.ts';
import { type Framed, framed } from './frame.ts';

const gated = {
  ...quiet,
  access: { kind: 'optional-cookie' },
  refusals: 'page',
} as const;
const replies = {
  200: { description: 'The page.', mediaType: 'text/html' },
  303: { description: 'Another page comes first, or instead.', headers: { location: 'Its path.' } },
};
/** As text: what a page does not know is not its business. */
const query = v.record(v.string(), v.union([v.string(), v.array(v.string())]));
type Query = v.InferOutput<typeof query>;

/** What modules have to know of the server. */
function dataOf({ config, catalog, mail }: Pick<Services, 'config' | 'catalog' | 'mail'>) {
  const { termsUrl, signup } = catalog.current().snapshot.identity;
  return {
    /** Where writes with a cookie are taken from. */
    web: new URL(config.webUrl).origin,
    mailbox: mail.mailbox === null ? null : '/dev/mailbox',
    terms_url: termsUrl,
    signup,
  };
}

function seeOther(location: string): Reply {
  return {
    status: 303,
    text: '',
    mediaType: '',
    headers: { location, 'cache-control': 'no-store' },
  };
}

interface Page extends Omit<Framed, 'data'> {
  path: string;
  operationId: string;
  summary: string;
}

/** Who is signed in has no use for it, except to prove itself anew: it goes where that leads. */
export function openPage(page: Page): AppRoute {
  const { path, operationId, summary } = page;
  return defineRoute({
    ...gated,
    ...{ path, operationId, summary, query, replies },
    handle: ({ query: asked, caller, services }) => {
      const isAgain = asked.reauthenticate === '1';
      if (caller.kind !== 'user' || isAgain) return framed({ ...page, data: dataOf(services) });
      const { return_to } = asked;
      return seeOther(returnPath(typeof return_to === 'string' ? return_to : null));
    },
  });
}

/** A page of who is signed in. */
export function ownPage(page: Page): AppRoute {
  const { path, operationId, summary } = page;
  return defineRoute({
    ...gated,
    ...{ path, operationId, summary, query, replies },
    handle: ({ query: asked, caller, services }) => {
      if (caller.kind === 'user') return framed({ ...page, data: dataOf(services) });
      return seeOther(signInPath(`${path}${queryText(asked)}`));
    },
  });
}

function queryText(asked: Query): string {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) {
    for (const each of [value].flat()) fields.append(name, each);
  }
  return fields.size === 0 ? '' : `?${fields}`;
}
