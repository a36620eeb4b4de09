// Settings of an organization as they are told: those that act, the defaults, and what may be
// named.
import * as v from 'valibot';
import {
  defaultSettings,
  type OrganizationSettings,
  settingsSchema,
} from '../../../actors/organization/settings.ts';
import type { Organization } from '../../../db/organizations.ts';
import { regions } from '../../../runtime/config.ts';
import type { Reply } from '../../../runtime/http/route.ts';
import { recordHeaders, revisionSchema } from '../../admin/revision.ts';
import type { Services } from '../../services.ts';

export const settingsReply = v.strictObject({
  ok: v.literal(true),
  settings: settingsSchema,
  defaults: settingsSchema,
  revision: v.pipe(revisionSchema, v.description('That of the organization.')),
  options: v.pipe(
    v.strictObject({
      providers: v.array(v.string()),
      models: v.array(v.string()),
      connectors: v.array(v.string()),
      regions: v.array(v.picklist(['auto', ...regions])),
    }),
    v.description('What lists of the settings can name. A name that is on none matches nothing.'),
  ),
});

export function settingsAnswer(
  { revision }: Pick<Organization, 'revision'>,
  settings: OrganizationSettings,
  services: Pick<Services, 'catalog' | 'config'>,
): Reply {
  return {
    status: 200,
    headers: recordHeaders(revision),
    json: {
      ok: true,
      settings,
      defaults: defaultSettings,
      revision,
      options: optionsOf(services),
    },
  };
}

/** Connectors come with their own issue: until then none can be named. */
function optionsOf({ catalog, config }: Pick<Services, 'catalog' | 'config'>) {
  const { snapshot, models, routes } = catalog.current();
  const targets = snapshot.models.flatMap((model) => model.targets);
  const named = targets.flatMap(({ publicName }) => publicName ?? []);
  const region = config.region === null ? [] : [config.region];
  return {
    providers: [...new Set(named)].sort(),
    models: [...routes.keys(), ...models.keys()].sort(),
    connectors: [],
    regions: ['auto', ...region],
  };
}
