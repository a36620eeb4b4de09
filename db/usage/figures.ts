// What is added up of requests, each figure as a column of the tables of usage. The names of the
// tokens are those of `svc_usage`, whose buckets are disjoint.

/** They are of requests that ended, in the order of the columns. */
export const figures = [
  'requests',
  'failed',
  'settled',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'search_calls',
  'milliseconds',
  'characters',
  'charge_micros',
] as const;
export type Figure = (typeof figures)[number];

export const figureList = figures.join(', ');

/** Quarters count by these and their time. Days leave out the provider. */
export const dayKeys = ['wallet_id', 'account_id', 'api_key_id', 'kind', 'model'] as const;
export const quarterKeys = [...dayKeys, 'provider'] as const;

/** The sums of these figures, under their names. */
export function sumsOf(wanted: readonly Figure[]): string {
  return wanted.map((name) => `sum(${name})::bigint AS ${name}`).join(', ');
}

export const figureSums = sumsOf(figures);

/** Adds the figures of the row that is there (`q`) and of the one that is not written. */
export const figuresAdded = figures
  .map((name) => `${name} = q.${name} + excluded.${name}`)
  .join(', ');
