// POST /api/me/ai/preferences: the person prefers other models.
import * as v from 'valibot';
import {
  lockPreferences,
  type Preferences,
  putPreferences,
  readPreferences,
} from '../../../db/accounts/preferences.ts';
import { audited } from '../../../db/audit-events.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import { newAuditId } from '../../../runtime/ids.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { staleProblem } from '../../admin/revision.ts';
import { defineRoute } from '../../define.ts';
import type { Services } from '../../services.ts';
import { preferencesReply } from './get-preferences.ts';
import { aliasFault, type Mode, mergedModes, modes, preferencesBody } from './modes.ts';

const alias = v.optional(v.nullable(lineOfText(200)));

const schema = v.strictObject({
  default_model: alias,
  modes: v.optional(
    v.strictObject(
      Object.fromEntries(modes.map((mode) => [mode, alias])) as Record<Mode, typeof alias>,
    ),
  ),
  expected_revision: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
});

type Wanted = v.InferOutput<typeof schema>;

export const savePreferences = defineRoute({
  method: 'POST',
  path: '/api/me/ai/preferences',
  operationId: 'saveAiPreferences',
  summary: 'Say which models you prefer',
  description:
    'What is absent stays as it is; null takes a preference away. An alias that is unknown, ' +
    'disabled or of another kind is 400 at its path. With `expected_revision` the change is made ' +
    'only on that revision: else 409 `conflict` with the current one in `details.revision`.',
  tag: 'Preferences',
  documents: ['account'],
  access: { kind: 'user' },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { default_model: null, modes: { chat: null } },
    schema,
  },
  replies: preferencesReply,
  problems: ['conflict', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    requireAliases(body, services);
    const { accountId } = caller;
    const saved = await withDeadline(save(services, accountId, body));
    if (saved.stale) throw staleProblem(saved.preferences.revision);
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: preferencesBody(saved.preferences, services.catalog.current()),
    };
  },
});

interface Saved {
  stale: boolean;
  /** Stale: those that stand. */
  preferences: Preferences;
}

/** @throws Problem invalid_request */
function requireAliases(body: Wanted, { catalog }: Pick<Services, 'catalog'>): void {
  const current = catalog.current();
  const check = (path: string, mode: Mode | null, name: string | null | undefined) => {
    const fault = name === null || name === undefined ? null : aliasFault(current, mode, name);
    if (fault !== null) throw fieldProblem(path, fault);
  };
  check('default_model', null, body.default_model);
  for (const mode of modes) check(`modes.${mode}`, mode, body.modes?.[mode]);
}

function save(
  { sql, system }: Pick<Services, 'sql' | 'system'>,
  accountId: string,
  body: Wanted,
): Promise<Saved> {
  return audited<Saved>(sql, async (transaction) => {
    const before = await lockPreferences(transaction, accountId);
    const expected = body.expected_revision;
    if (expected !== undefined && expected !== before.revision) {
      return { result: { stale: true, preferences: before }, event: null };
    }
    const defaultModel =
      body.default_model === undefined ? before.defaultModel : body.default_model;
    const after = { defaultModel, modes: mergedModes(before.modes, body.modes ?? {}) };
    await putPreferences(transaction, accountId, after);
    const event = {
      id: newAuditId(system.node),
      accountId,
      actor: accountId,
      action: 'preferences.update',
      subject: `account:${accountId}`,
      details: { before: { defaultModel: before.defaultModel, modes: before.modes }, after },
    };
    const preferences = await readPreferences(transaction, accountId);
    return { result: { stale: false, preferences }, event };
  });
}
