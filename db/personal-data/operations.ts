// Tables that tell of nobody: how the service is run and what it offers.
import type { PersonalDomain, TableRule } from './contract.ts';

const tables = [
  ...['instances', 'migrations', 'sweep_positions', 'seals', 'exchange_rate', 'declarations'],
  ...['providers', 'models', 'prices', 'routes', 'packages', 'surfaces'],
  ...['oauth_clients', 'oauth_decisions', 'identity'],
  ...['payment_providers'],
  ...['app_board', 'app_releases', 'social_profiles', 'app_error_count'],
  ...[
    'promotions',
    'reward_tasks',
    'billing',
    'organization_defaults',
    'promotion_counts',
    'reward_prints',
    'reward_days',
  ],
  ...['usage_progress', 'usage_state'],
  ...['organization_domains', 'organization_domain_checks'],
  ...['installation', 'payment_cursors'],
];
const rule: TableRule = {
  hold: 'exempt',
  exported: 'it names nobody',
  fate: { kept: 'it names nobody' },
};

export const operationData: PersonalDomain = {
  file: null,
  tables: Object.fromEntries(tables.map((table) => [table, rule])),
  lists: [],
  erasing: [],
};
