// Video in the catalog: each contradiction is a fault with its path. Shards get what a job needs,
// and the public sees the dearest of a pool.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import {
  catalogDocumentSchema,
  managedRouteSchema,
  modelSchema,
  priceSchema,
  providerSchema,
} from '../../../actors/catalog/document.ts';
import { documentFaults, faultLine } from '../../../actors/catalog/faults.ts';
import { movedRoutes } from '../../../actors/catalog/moved.ts';
import {
  buildSnapshot,
  type CatalogSnapshot,
  publicEntries,
} from '../../../actors/catalog/snapshot.ts';
import { requireKind, unknownModel } from '../../../actors/catalog/use.ts';
import { modelStatuses } from '../../../actors/monitor/routes.ts';
import { videoCharge } from '../../../actors/wallet/price.ts';
import { validateBody } from '../../../runtime/http/validate.ts';

type Members = Record<string, unknown>;

const base_url = 'http://127.0.0.1:9/v1';
const providers = [
  { name: 'text', family: 'openai-chat', base_url },
  { name: 'veo', family: 'google-veo', base_url, media_hosts: ['*.example.com'] },
  { name: 'imagine', family: 'xai-imagine', base_url, jobs_max: 3, idempotency: 'key' },
  { name: 'videos', family: 'openai-videos', base_url },
  { name: 'off', family: 'openai-videos', base_url, enabled: false },
];
const text = {
  alias: 'chat',
  routes: [{ provider: 'text', upstream_model: 'c' }],
  price: { input_per_million: '1', output_per_million: '2' },
};
const abilities = {
  durations: [4, 6, 8],
  resolutions: { '720p': {}, '1080p': { durations: [8] } },
  aspect_ratios: ['16:9', '9:16'],
  audio: 'always',
};
const price = {
  per_second_of_video: '0.10',
  video_rates: [{ resolution: '1080p', per_second_of_video: '0.12' }],
};
const film = {
  alias: 'film',
  kind: 'video',
  routes: [{ provider: 'veo', upstream_model: 'f' }],
  price,
  video: abilities,
};
const clip = {
  alias: 'clip',
  kind: 'video',
  routes: [
    { provider: 'imagine', upstream_model: 'i' },
    { provider: 'videos', upstream_model: 's' },
    { provider: 'off', upstream_model: 's' },
  ],
  price: { per_second_of_video: '0.07' },
  video: {
    durations: { min: 4, max: 15 },
    resolutions: { '720p': {} },
    aspect_ratios: ['1:1', '16:9'],
    audio: 'never',
    seed: true,
    minutes_max: 45,
  },
};
const auto = {
  alias: 'svc-video',
  kind: 'video',
  pool: [{ model: 'film', quality: 60 }, { model: 'clip' }],
};

function linesOf(document: Members): string[] {
  const parsed = v.parse(catalogDocumentSchema, { providers, ...document });
  return documentFaults(parsed).map(faultLine);
}

function snapshotOf(document: Members): CatalogSnapshot {
  const parsed = v.parse(catalogDocumentSchema, { providers, ...document });
  assert.deepEqual(documentFaults(parsed), []);
  return buildSnapshot(parsed, () => 0);
}

const lineOf = (model: Members) => linesOf({ models: [model] });
const withVideo = (more: Members) => ({ ...film, video: { ...abilities, ...more } });

/** The path that a body is refused at; null: it is taken. */
function refusedAt(schema: v.GenericSchema, body: Members): string | null {
  try {
    validateBody(schema, body);
    return null;
  } catch (error) {
    return (error as { param?: string }).param ?? '';
  }
}

test('models of video and a route over them are right as they should be', () => {
  assert.deepEqual(linesOf({ models: [film, clip, text], routes: [auto] }), []);
});

test('what is out of bounds is refused with its path', () => {
  const taken = (more: Members) => refusedAt(modelSchema, withVideo(more));
  assert.equal(taken({}), null);
  assert.equal(taken({ durations: { min: 4, max: 30 } }), null);
  for (const [more, path] of [
    [{ durations: [3] }, 'video.durations[0]'],
    [{ durations: [4, 31] }, 'video.durations[1]'],
    [{ durations: [4.5] }, 'video.durations[0]'],
    [{ durations: { min: 4, max: 31 } }, 'video.durations.max'],
    [{ durations: { min: 3, max: 8 } }, 'video.durations.min'],
    [{ durations: { min: 4 } }, 'video.durations.max'],
    [{ durations: [] }, 'video.durations'],
    [{ durations: 8 }, 'video.durations'],
    [{ durations: undefined }, 'video.durations'],
    [{ resolutions: { '480p': {} } }, 'video.resolutions.480p'],
    [{ resolutions: { '720p': { durations: [31] } } }, 'video.resolutions.720p.durations[0]'],
    [{ resolutions: { '720p': { fps: 24 } } }, 'video.resolutions.720p.fps'],
    [{ aspect_ratios: ['adaptive'] }, 'video.aspect_ratios[0]'],
    [{ aspect_ratios: [] }, 'video.aspect_ratios'],
    [{ audio: 'yes' }, 'video.audio'],
    [{ seed: 1 }, 'video.seed'],
    [{ minutes_max: 0 }, 'video.minutes_max'],
    [{ minutes_max: 241 }, 'video.minutes_max'],
    [{ fps: 24 }, 'video.fps'],
  ] as const) {
    assert.equal(taken(more), path, JSON.stringify(more));
  }
  const card = (video_rates: unknown) => refusedAt(priceSchema, { name: 'card', video_rates });
  const row = { resolution: '720p', per_second_of_video: '1' };
  assert.equal(card([row]), null);
  assert.equal(card([{ ...row, resolution: '4k' }]), 'video_rates[0].resolution');
  assert.equal(card([{ resolution: '720p' }]), 'video_rates[0].per_second_of_video');
  assert.equal(card(Array(7).fill(row)), 'video_rates');
  const route = { ...auto, kind: 'speech' };
  assert.equal(refusedAt(managedRouteSchema, route), 'kind');
});

test('hosts of media are names, never addresses or everything', () => {
  const provider = { name: 'veo', family: 'google-veo', base_url };
  const at = (more: Members) => refusedAt(providerSchema, { ...provider, ...more });
  const long = `${'a'.repeat(63)}.`.repeat(4);
  for (const host of ['files.example.com', '*.example.com', '*.a-b.co.uk', 'minio', 'xn--p1ai']) {
    assert.equal(at({ media_hosts: [host] }), null, host);
  }
  for (const host of [
    ...['*', '*.', '*.com', '*example.com', 'a.*.com', '**.example.com', '', '.', '.com', 'a..b'],
    ...['1.2.3.4', '127.1', '0x7f.1', '*.0.0.1', '[::1]', '::1', 'fe80::1', '10'],
    ...['https://example.com', 'example.com/x', 'example.com:443', 'a@b.com', 'example.com.'],
    ...[
      '-a.com',
      'a-.com',
      'a.com-',
      'EXAMPLE.com',
      'exämple.com',
      'a b.com',
      'a.com\n',
      `${long}a`,
    ],
  ]) {
    assert.equal(at({ media_hosts: [host] }), 'media_hosts[0]', JSON.stringify(host));
  }
  assert.equal(at({ media_hosts: Array(33).fill('a.com') }), 'media_hosts');
  assert.equal(at({ jobs_max: 0 }), 'jobs_max');
  assert.equal(at({ jobs_max: 10_001 }), 'jobs_max');
  assert.equal(at({ idempotency: 'yes' }), 'idempotency');
});

test('members of video belong to video', () => {
  const { video: _members, ...bare } = film;
  assert.deepEqual(lineOf(bare), ['models[0].video: a video model needs it']);
  assert.deepEqual(lineOf({ ...text, video: abilities }), [
    'models[0].video: only video models have it',
  ]);
  assert.deepEqual(lineOf({ ...text, capabilities: ['chat', 'video'] }), [
    'models[0].capabilities: a generation model makes no video',
  ]);
  assert.deepEqual(lineOf({ ...film, capabilities: ['video'] }), []);
  assert.deepEqual(lineOf({ ...film, capabilities: ['video', 'vision', 'tools'] }), [
    'models[0].capabilities: a video model has no "vision"',
  ]);
  for (const [more, path] of [
    [{ voices: { alloy: 'a' } }, 'voices'],
    [{ hosted_tools: ['code_interpreter'] }, 'hosted_tools'],
  ] as const) {
    const [line = '', ...others] = lineOf({ ...film, ...more });
    assert.ok(line.startsWith(`models[0].${path}: `), line);
    assert.deepEqual(others, []);
  }
  for (const [model, provider] of [
    [film, 'text'],
    [text, 'veo'],
  ] as const) {
    const routes = [{ provider, upstream_model: 'x' }];
    const [line = '', ...others] = lineOf({ ...model, routes });
    assert.match(line, /^models\[0\]\.routes\[0\]\.provider: there is no provider "/);
    assert.deepEqual(others, []);
  }
});

test('what a model says of itself must not contradict itself', () => {
  const beyond = (seconds: number) => `${seconds} seconds are not among the durations of the model`;
  for (const [more, lines] of [
    [
      { durations: { min: 8, max: 4 }, resolutions: { '720p': {} } },
      ['durations.min: min is more than max'],
    ],
    [{ durations: [4, 8, 4] }, ['durations[2]: 4 is declared twice']],
    [{ resolutions: {} }, ['resolutions: one is needed']],
    [
      { resolutions: { '720p': { durations: [4, 5] } } },
      [`resolutions.720p.durations: ${beyond(5)}`],
    ],
    [
      { resolutions: { '720p': { durations: { min: 4, max: 5 } } } },
      [`resolutions.720p.durations: ${beyond(5)}`],
    ],
    [
      { resolutions: { '720p': { durations: [8, 8] } } },
      ['resolutions.720p.durations[1]: 8 is declared twice'],
    ],
    [
      { resolutions: { '720p': { durations: { min: 9, max: 8 } } } },
      ['resolutions.720p.durations.min: min is more than max'],
    ],
    [{ durations: { min: 4, max: 8 }, resolutions: { '720p': { durations: [5] } } }, []],
    [{ aspect_ratios: ['16:9', '16:9'] }, ['aspect_ratios[1]: "16:9" is declared twice']],
  ] as const) {
    const expected = lines.map((line) => `models[0].video.${line}`);
    const { price: _card, ...rest } = withVideo(more);
    assert.deepEqual(lineOf({ ...rest, price: { per_second_of_video: '1' } }), expected);
  }
});

test('every video has a price, and no two', () => {
  const row = (more: Members) => ({ resolution: '720p', per_second_of_video: '0.1', ...more });
  const priced = (...video_rates: unknown[]) => ({ ...price, video_rates });
  const rates = 'models[0].price.video_rates';
  assert.deepEqual(lineOf({ ...film, price: { video_rates: price.video_rates } }), [
    'models[0].price.per_second_of_video: per_second_of_video is needed',
  ]);
  const all = [row({}), row({ audio: true }), row({ audio: false }), row({ resolution: '1080p' })];
  assert.deepEqual(lineOf({ ...film, price: priced(...all) }), []);
  assert.deepEqual(lineOf({ ...film, price: priced(row({}), row({})) }), [
    `${rates}[1]: 720p has two prices`,
  ]);
  const twice = priced(row({ audio: true }), row({}), row({ audio: true }));
  assert.deepEqual(lineOf({ ...film, price: twice }), [
    `${rates}[2]: 720p with sound has two prices`,
  ]);
  assert.deepEqual(lineOf({ ...clip, price: priced(row({ resolution: '1080p' })) }), [
    `${rates}[0].resolution: the model makes no 1080p`,
  ]);
  assert.deepEqual(lineOf({ ...clip, price: priced(row({ audio: true })) }), [
    `${rates}[0].audio: the model makes no sound`,
  ]);
  assert.deepEqual(lineOf({ ...text, price: { ...text.price, ...price } }), [
    'models[0].price.per_second_of_video: only video models have it',
    'models[0].price.video_rates: only video models have it',
  ]);
});

test('a shared card may price more than one of its models makes', () => {
  const prices = [{ name: 'seconds', ...price }];
  const models = [
    { ...film, price: 'seconds' },
    { ...clip, price: 'seconds' },
  ];
  assert.deepEqual(linesOf({ prices, models }), []);
  const [, shown] = publicEntries(snapshotOf({ prices, models }));
  assert.deepEqual(shown?.video_rates, [], 'but only what it makes is shown');
  const faults = (card: Members) => linesOf({ prices: [{ name: 'card', ...card }] });
  assert.deepEqual(faults({ video_rates: price.video_rates }), [
    'prices[0].per_second_of_video: per_second_of_video is needed',
  ]);
  assert.deepEqual(faults({ ...text.price, video_rates: price.video_rates }), [
    'prices[0].per_second_of_video: per_second_of_video is needed beside video_rates',
  ]);
  const [row] = price.video_rates;
  assert.deepEqual(faults({ ...price, video_rates: [row, row] }), [
    'prices[0].video_rates[1]: 1080p has two prices',
  ]);
  assert.deepEqual(
    linesOf({ prices: [{ name: 'card', ...text.price }], models: [{ ...film, price: 'card' }] }),
    ['models[0].price: card "card": per_second_of_video is needed'],
  );
});

test('a provider promises only what its format has', () => {
  const faults = (more: Members) => linesOf({ providers: [{ name: 'p', base_url, ...more }] });
  assert.deepEqual(faults({ family: 'openai-videos', idempotency: 'list' }), []);
  assert.deepEqual(faults({ family: 'google-veo', idempotency: 'key' }), []);
  for (const family of ['google-veo', 'xai-imagine']) {
    assert.deepEqual(faults({ family, idempotency: 'list' }), [
      `providers[0].idempotency: ${family} has no list of submissions`,
    ]);
  }
  assert.deepEqual(
    faults({ family: 'openai-chat', media_hosts: [], jobs_max: 1, idempotency: 'none' }),
    ['media_hosts', 'jobs_max', 'idempotency'].map(
      (member) => `providers[0].${member}: only providers of videos have it`,
    ),
  );
  assert.deepEqual(faults({ family: 'google-veo', media_hosts: ['a.com', 'b.com', 'a.com'] }), [
    'providers[0].media_hosts[2]: "a.com" is declared twice',
  ]);
});

test('a pool has models of one kind, and members that mean something to it', () => {
  const models = [film, clip, text];
  const mixed = (kind: string | undefined, ...names: string[]) =>
    linesOf({ models, routes: [{ alias: 'r', kind, pool: names.map((model) => ({ model })) }] });
  assert.deepEqual(mixed('video', 'film', 'chat'), [
    'routes[0].pool[1].model: "chat" is a generation model: the pool has models for video only',
  ]);
  const generation = [
    'routes[0].pool[0].model: "clip" is a video model: the pool has models for generation only',
  ];
  assert.deepEqual(mixed(undefined, 'clip', 'chat'), generation);
  assert.deepEqual(mixed('generation', 'clip', 'chat'), generation);
  const faults = (more: Members) => linesOf({ models, routes: [{ ...auto, ...more }] });
  assert.deepEqual(faults({ optimizer: 'never' }), []);
  assert.deepEqual(faults({ optimizer: 'always' }), [
    'routes[0].optimizer: only a route for generation has it',
  ]);
  assert.deepEqual(faults({ cost_guard: { max_cost_premium_percent: 5 } }), [
    'routes[0].cost_guard: only a route for generation has it',
  ]);
  assert.deepEqual(faults({ pool: [{ model: 'film', qualities: { code: 9 } }] }), [
    'routes[0].pool[0].qualities: a video has no category of task: quality is the only one',
  ]);
});

test('shards get what a model makes and where its jobs go', () => {
  const { models, routes } = snapshotOf({ models: [film, clip, text], routes: [auto] });
  const [first, second, third] = models;
  assert.deepEqual(first?.video?.abilities, {
    durations: [4, 6, 8],
    resolutions: { '720p': {}, '1080p': { durations: [8] } },
    aspectRatios: ['16:9', '9:16'],
    audio: 'always',
    seed: false,
    minutesMax: 30,
  });
  const [veo] = first?.video?.targets ?? [];
  assert.deepEqual(veo, {
    ...first?.targets[0],
    mediaHosts: ['*.example.com'],
    jobsMax: 10,
    idempotency: 'none',
  });
  assert.deepEqual(
    second?.video?.targets.map(({ routeId, mediaHosts, jobsMax, idempotency }) => {
      return [routeId, mediaHosts, jobsMax, idempotency];
    }),
    [
      ['imagine/i', [], 3, 'key'],
      ['videos/s', [], 10, 'list'],
    ],
    'those of enabled providers',
  );
  assert.deepEqual(
    second?.targets.map(({ routeId }) => routeId),
    ['imagine/i', 'videos/s'],
  );
  assert.equal(third?.video, null);
  const [route] = routes;
  assert.equal(route?.kind, 'video');
  assert.deepEqual(
    route?.pool.map(({ model, quality }) => [model.alias, quality]),
    [
      ['film', 60],
      ['clip', 50],
    ],
  );
  assert.ok(first !== undefined);
  const asked = { resolution: '1080p', audio: true, seconds: 8 } as const;
  // 8 x 0.12 dollars are 96 credits, 100.8 with the markup.
  assert.equal(videoCharge(first.card, asked).chargeMicros, 100_800_000n);
});

test('a stored route without a kind is one for generation', () => {
  const { routes } = snapshotOf({
    models: [text],
    routes: [{ alias: 'auto', pool: [{ model: 'chat', quality: 50, qualities: {} }] }],
  });
  assert.equal(routes[0]?.kind, 'generation');
  // What is written of it has no member that such a build would not know.
  const { kind: _none, ...record } = { alias: 'auto', pool: [{ model: 'chat' }], kind: undefined };
  assert.ok(!('kind' in v.parse(managedRouteSchema, record)));
});

test('the public sees what a model makes, and what a second costs', () => {
  const [first, second, third] = publicEntries(snapshotOf({ models: [film, clip, text] }));
  assert.deepEqual(first?.capabilities, ['video']);
  assert.equal(first?.supports_streaming, false);
  assert.equal(first?.credits_per_million_input, null);
  assert.equal(first?.credits_per_second_of_video, 10.5);
  assert.deepEqual(first?.video_rates, [
    { resolution: '1080p', credits_per_second_of_video: 12.6 },
  ]);
  assert.deepEqual(first?.video, { ...abilities, seed: false, minutes_max: 30 });
  assert.deepEqual(second?.video_rates, []);
  assert.deepEqual(second?.video, clip.video);
  for (const member of ['video', 'video_rates', 'credits_per_second_of_video']) {
    assert.ok(third !== undefined && !(member in third), member);
  }
});

test('a pool is shown as all that it makes, at the prices of its dearest', () => {
  const entry = publicEntries(snapshotOf({ models: [film, clip], routes: [auto] })).at(-1);
  assert.equal(entry?.alias, 'svc-video');
  assert.equal(entry?.available, true);
  assert.deepEqual(entry?.capabilities, ['video']);
  assert.equal(entry?.credits_per_second_of_video, 10.5);
  assert.deepEqual(entry?.video_rates, [
    { resolution: '1080p', credits_per_second_of_video: 12.6 },
  ]);
  assert.deepEqual(entry?.video, {
    durations: { min: 4, max: 15 },
    resolutions: { '720p': {}, '1080p': { durations: [8] } },
    aspect_ratios: ['16:9', '1:1', '9:16'],
    audio: 'optional',
    seed: true,
    minutes_max: 45,
  });
});

test('no video of a pool costs more than is shown, however its models are priced', () => {
  const row = (resolution: string, audio: boolean, dollars: string) => {
    return { resolution, audio, per_second_of_video: dollars };
  };
  const models = [
    { ...film, price: { per_second_of_video: '9', video_rates: [row('720p', true, '1')] } },
    {
      ...clip,
      price: { per_second_of_video: '3', video_rates: [row('720p', false, '2')] },
    },
  ];
  const snapshot = snapshotOf({ models, routes: [auto] });
  const shown = publicEntries(snapshot).at(-1);
  assert.equal(shown?.credits_per_second_of_video, 945);
  // With sound only `film` makes it; without, it costs more there.
  assert.deepEqual(shown?.video_rates, [
    { resolution: '720p', audio: true, credits_per_second_of_video: 105 },
  ]);
});

test('nothing that asks for text ends at a video, by whatever name', () => {
  const snapshot = snapshotOf({ models: [film, clip, text], routes: [auto] });
  const [model] = snapshot.models;
  const [route] = snapshot.routes;
  assert.ok(model !== undefined && route !== undefined);
  for (const named of [model, route]) {
    assert.throws(() => requireKind(named, 'generation'), {
      code: 'model_not_found',
      message: `"${named.alias}" is a video model: it is used with /v1/video/generations.`,
    });
  }
  const hint = (asked: string, kind: 'generation' | 'video') =>
    unknownModel({ snapshot }, asked, kind).message;
  assert.match(hint('svc-videos', 'video'), /The nearest is "svc-video"/);
  assert.doesNotMatch(hint('svc-videos', 'generation'), /nearest/);
});

test('routes of video are in the status of models, and are new with another address', () => {
  const before = snapshotOf({ models: [film, clip], routes: [auto] });
  const probed = new Map([['veo/f', true]]);
  assert.deepEqual(
    modelStatuses(before, probed, []).map(({ alias, status, routes_total }) => {
      return [alias, status, routes_total];
    }),
    [
      ['film', 'operational', 1],
      ['clip', 'unknown', 2],
      ['svc-video', 'degraded', 3],
    ],
  );
  const moved = providers.map((provider) =>
    provider.name === 'veo' ? { ...provider, base_url: 'http://127.0.0.1:8/v1' } : provider,
  );
  const after = snapshotOf({ models: [film, clip], routes: [auto], providers: moved });
  assert.deepEqual(movedRoutes(before, after), ['veo/f']);
});
