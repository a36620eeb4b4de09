// The records of every kind that the routes of administration take through their whole life.

type Members = Record<string, unknown>;

export const price = { input_per_million: '2.50', output_per_million: '10.00' };
export const upstream_model = 'simulated-chat-large-2026-01-15';

export function model(alias: string, more: Members = {}): Members {
  return { alias, routes: [{ provider: 'simulator', upstream_model }], price, ...more };
}

export interface Life {
  kind: string;
  name: string;
  body: (simulatorUrl: string) => Members;
  patch: Members;
  /** The member that disables it. */
  enabled: string | null;
}

export const film = {
  kind: 'video',
  routes: [{ provider: 'simulator-veo', upstream_model: 'sim-veo-2026-preview' }],
  video: {
    durations: [4, 8],
    resolutions: { '720p': {}, '1080p': { durations: [8] } },
    aspect_ratios: ['16:9'],
    audio: 'always',
    seed: false,
    minutes_max: 20,
  },
};
export const filmPrice = {
  per_second_of_video: '0.10',
  video_rates: [{ resolution: '1080p', audio: true, per_second_of_video: '0.12' }],
};

export const lives: Life[] = [
  {
    kind: 'providers',
    name: 'film-maker',
    body: (simulatorUrl) => ({
      name: 'film-maker',
      family: 'openai-videos',
      base_url: `${simulatorUrl}/v1`,
      media_hosts: ['*.example.com', 'files.example.net'],
      jobs_max: 3,
      idempotency: 'key',
      region: 'eu',
      public_name: 'Film maker',
    }),
    patch: { media_hosts: ['a.example.com'], jobs_max: null, idempotency: 'list', region: 'apac' },
    enabled: 'enabled',
  },
  {
    kind: 'models',
    name: 'film',
    body: () => ({ alias: 'film', price: filmPrice, ...film }),
    patch: { video: { ...film.video, durations: { min: 4, max: 9 }, seed: true } },
    enabled: 'enabled',
  },
  {
    kind: 'prices',
    name: 'seconds',
    body: () => ({ name: 'seconds', ...filmPrice }),
    patch: { video_rates: null, per_second_of_video: '0.2' },
    enabled: null,
  },
  {
    kind: 'routes',
    name: 'films',
    body: () => ({
      alias: 'films',
      kind: 'video',
      pool: [{ model: 'svc-sim-video', quality: 70, qualities: {} }],
    }),
    patch: { display_name: 'Films' },
    enabled: 'enabled',
  },
  {
    kind: 'providers',
    name: 'runner',
    body: (simulatorUrl) => ({
      name: 'runner',
      family: 'openai-chat',
      base_url: `${simulatorUrl}/v1`,
      quirks: { obfuscation_switch: true },
    }),
    patch: { base_url: 'http://10.0.0.7:11434/v1', quirks: null },
    enabled: 'enabled',
  },
  {
    kind: 'models',
    name: 'life',
    body: () => model('life', { capabilities: ['chat', 'tools'], display_name: 'Life' }),
    patch: { context_window: 1_000, display_name: null },
    enabled: 'enabled',
  },
  {
    kind: 'prices',
    name: 'card',
    body: () => ({ name: 'card', ...price, per_search_call: '0.01' }),
    patch: { per_search_call: null, cached_input_per_million: '0.5' },
    enabled: null,
  },
  {
    kind: 'routes',
    name: 'managed',
    body: () => ({
      alias: 'managed',
      pool: [{ model: 'svc-sim-chat', quality: 70, qualities: {} }],
    }),
    patch: { optimizer: 'always' },
    enabled: 'enabled',
  },
  {
    kind: 'packages',
    name: 'big',
    body: () => ({ slug: 'big', name: 'Big', credits: 10_000, price_usd: '90.00' }),
    patch: { credits: 11_000, prices: { eur: 8_500 } },
    enabled: 'active',
  },
  {
    kind: 'surfaces',
    name: 'web',
    body: () => ({ name: 'web', display_name: 'Web' }),
    patch: { display_name: 'The web' },
    enabled: 'enabled',
  },
];
