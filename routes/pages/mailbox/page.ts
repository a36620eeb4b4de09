// The page /dev/mailbox and its files. They are there only where the mailbox is, and for the same
// visitors.
import type { AppRoute } from '../../define.ts';
import { pageRoutes } from '../page-routes.ts';
import { mailboxProblems, requireMailbox } from './require-mailbox.ts';

const routes = pageRoutes({
  name: 'mailbox',
  summary: 'Mails of development mode',
  permissions: 'microphone=(), camera=(), geolocation=()',
  modules: ['dom', 'mails', 'page'],
});

export const mailboxPageRoutes: readonly AppRoute[] = routes.map((route) => ({
  ...route,
  path: `/dev${route.path}`,
  problems: [...mailboxProblems],
  handle(input) {
    requireMailbox(input.exchange, input.services);
    return route.handle(input);
  },
}));
