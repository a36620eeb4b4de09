// GET /sim/pages/{name}: pages that are handed in for rewards. Words of some command the simulated
// model, which obeys.
import type { SimFamily } from '../contract.ts';
import { makePage } from './page.ts';

export const pagesFamily: SimFamily = {
  name: 'pages',
  keyOf: () => '',
  keep: (req) => ({ name: req.getParameter(0) ?? '' }),
  routes: [
    {
      method: 'get',
      path: '/sim/pages/:name',
      handle(exchange) {
        const page = makePage(exchange.kept.name ?? '');
        if (page === null) exchange.reply(404, { 'content-type': 'text/plain' }, 'no such page\n');
        else exchange.reply(page.status, page.headers, page.body);
      },
    },
  ],
};
