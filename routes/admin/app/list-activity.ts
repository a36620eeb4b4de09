// GET /api/admin/installations/activity: how many used apps on each day.
import * as v from 'valibot';
import { listActiveDays } from '../../../db/app/installations.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { momentOf } from '../../../runtime/http/moment.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import { defineRoute } from '../../define.ts';

const dayMs = 86_400_000;
const daysMax = 92;
const daysUsual = 30;
const day = v.pipe(v.string(), v.regex(/^\d{4}-\d{2}-\d{2}$/, 'expected a day: 2026-11-27'));
const count = v.pipe(v.number(), v.integer());

export const listActivity = defineRoute({
  method: 'GET',
  path: '/api/admin/installations/activity',
  operationId: 'listAppActivity',
  summary: 'Tell how many used apps on each day',
  description:
    'UTC days `from` to `to`, both included, 92 at most; without them the last 30. `active` are ' +
    'accounts and installations, `count` is how often they told of it.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  query: v.object({ from: v.optional(day), to: v.optional(day) }),
  replies: {
    200: {
      description: 'The days, the last one first.',
      schema: v.strictObject({
        ok: v.literal(true),
        data: v.array(v.strictObject({ day: v.string(), active: count, count })),
      }),
    },
  },
  problems: ['dependency_unavailable'],
  async handle({ query, services }) {
    const to = requireDay('to', query.to) ?? new Date(Math.floor(Date.now() / dayMs) * dayMs);
    const usual = new Date(to.getTime() - (daysUsual - 1) * dayMs);
    const from = requireDay('from', query.from) ?? usual;
    const days = (to.getTime() - from.getTime()) / dayMs + 1;
    if (days < 1 || days > daysMax) {
      throw fieldProblem('from', `Expected 1 to ${daysMax} days up to \`to\`.`);
    }
    const rows = await withDeadline(listActiveDays(services.sql, textOf(from), textOf(to)));
    const data = rows.map((row) => ({ day: row.day, active: row.subjects, count: row.count }));
    return { status: 200, headers: { 'cache-control': 'no-store' }, json: { ok: true, data } };
  },
});

function textOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

/** @throws Problem invalid_request */
function requireDay(name: string, text: string | undefined): Date | null {
  if (text === undefined) return null;
  const moment = momentOf(text);
  if (moment === null) throw fieldProblem(name, 'There is no such day.');
  return moment;
}
