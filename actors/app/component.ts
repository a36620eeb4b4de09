// What apps tell and are told, as a component of the shard. It has no actor: counts wait here to be
// written, and a shard that ends waits for them.
import { putErrors } from '../../db/app/errors.ts';
import { addActivity } from '../../db/app/installations.ts';
import { readAccountNotices } from '../../db/app/notices.ts';
import { type Sql, withDeadline } from '../../db/driver/sql.ts';
import type { Logger } from '../../runtime/log.ts';
import { type Component, defineComponent } from '../../runtime/shard/component.ts';
import { createAccountNotices } from './account-notices.ts';
import { createActivity } from './activity.ts';
import { createBoardView } from './board.ts';
import { createErrorWriter } from './error-writer.ts';
import type { AppLimits } from './limits.ts';
import type { AppServices } from './services.ts';

interface Given {
  sql: Sql;
  limits: { app: AppLimits };
  log: Logger;
}

export function createAppComponent({ sql, limits: { app: limits }, log }: Given): {
  component: Component;
  services: AppServices;
} {
  const activity = createActivity({
    write: (counts) => withDeadline(addActivity(sql, counts)),
    limits: limits.activity,
    log,
  });
  const errors = createErrorWriter({
    write: (told) => withDeadline(putErrors(sql, told, limits.errors.groupsMax)),
    limits: limits.errors,
  });
  const notices = createAccountNotices({
    read: (accountId) => withDeadline(readAccountNotices(sql, accountId)),
    clock: Date.now,
    limits: limits.accountNotices,
  });
  const component = defineComponent({
    name: 'app',
    kinds: [],
    size: () => activity.pending,
    drain: activity.drain,
    async close() {
      activity.close();
    },
  });
  return { component, services: { board: createBoardView(), notices, activity, errors } };
}
