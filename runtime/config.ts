// The environment, read once into one frozen object of plain data: the only reader of it.
// Every variable is declared in the table below; an unknown or bad one stops the start.
import { constants } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import {
  choice,
  databaseAddress,
  dnsServers,
  Expectation,
  fetchExceptions,
  integer,
  key32,
  listenAddress,
  networks,
  optionalChoice,
  optionalInteger,
  optionalText,
  origin,
  parseUpstreamUrl,
  parseWords,
  secret,
  sender,
  smtpAddress,
  text,
  type Variable,
} from './variable.ts';

const cores = availableParallelism();

/** Where data may be bound to. `auto` is none of them. */
export const regions = ['us', 'eu', 'in', 'apac'] as const;

/** Every variable there is, in the order of --help. */
const variables = {
  port: integer('PORT', 8787, [0, 65_535], 'port of the API; 0 takes a free one'),
  host: listenAddress('HOST', '127.0.0.1', 'address to listen on'),
  baseUrl: origin('TOLLGATE_BASE_URL', 'public origin of the API', 'http://HOST:PORT'),
  webUrl: origin('TOLLGATE_WEB_URL', 'public origin of the hosted pages', 'as TOLLGATE_BASE_URL'),
  mode: optionalChoice(
    'TOLLGATE_MODE',
    ['dev', 'production'],
    'dev starts the simulator, an account and a key',
    'dev, if neither DATABASE_URL nor TOLLGATE_CONFIG is set',
  ),
  databaseUrl: databaseAddress('DATABASE_URL', 'PostgreSQL server', 'embedded, in TOLLGATE_DATA'),
  redisUrl: optionalText('REDIS_URL', 'bus and queue of several processes (not in this version)'),
  dataDir: text('TOLLGATE_DATA', './data', 'database, private media, generated secrets'),
  blobs: optionalText(
    'TOLLGATE_BLOBS',
    's3://bucket/prefix for media (not in this version)',
    'files in TOLLGATE_DATA',
  ),
  s3Endpoint: optionalText('TOLLGATE_S3_ENDPOINT', 'address of an S3-compatible store'),
  secret: key32(
    'TOLLGATE_SECRET',
    'master key of encryption at rest, 32 bytes as base64url',
    'generated once in TOLLGATE_DATA',
  ),
  previousSecret: key32(
    'TOLLGATE_SECRET_PREVIOUS',
    'master key before it: credentials and files are sealed anew, reasoning still opens',
    'unset',
  ),
  configPath: optionalText(
    'TOLLGATE_CONFIG',
    'JSON file of providers, models, prices, routes, packages, surfaces',
  ),
  shards: integer('TOLLGATE_SHARDS', Math.min(cores, 255), [1, 255], 'threads that serve the API'),
  drainSeconds: integer('TOLLGATE_DRAIN_SECONDS', 30, [0, 3_600], 'time to finish work on a stop'),
  logLevel: choice(
    'TOLLGATE_LOG_LEVEL',
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    'info',
    'what is logged',
  ),
  metricsPort: optionalInteger('TOLLGATE_METRICS_PORT', [1, 65_535], 'port of GET /metrics', 'off'),
  metricsHost: listenAddress('TOLLGATE_METRICS_HOST', '127.0.0.1', 'address of GET /metrics'),
  tlsCertPath: optionalText('TOLLGATE_TLS_CERT', 'PEM file of the certificate chain'),
  tlsKeyPath: optionalText('TOLLGATE_TLS_KEY', 'PEM file of its private key'),
  trustedProxies: networks('TOLLGATE_TRUSTED_PROXIES', 'peers whose X-Forwarded-For is believed'),
  fetchPrivate: fetchExceptions(
    'TOLLGATE_FETCH_PRIVATE',
    'what URLs of users may lead to besides the web: host[:port], network[:port]',
  ),
  dnsServers: dnsServers(
    'TOLLGATE_DNS_SERVERS',
    'what is asked whether a domain is proved, each of them; in dev mode the simulator',
  ),
  region: optionalChoice(
    'TOLLGATE_REGION',
    regions,
    'where the data of this deployment is: organizations may insist on it',
    'unset: auto alone',
  ),
  voiceSecondsMax: integer('TOLLGATE_VOICE_MAX_SECONDS', 450, [30, 450], 'of a voice session'),
  voiceContextChars: integer(
    'TOLLGATE_VOICE_CONTEXT_CHARS',
    24_000,
    [0, 1_000_000],
    'context that a voice session may bring',
  ),
  voiceIdleSeconds: integer('TOLLGATE_VOICE_IDLE_SECONDS', 60, [1, 3_600], 'silence that ends it'),
  voiceSessionsMax: integer('TOLLGATE_VOICE_SESSIONS_MAX', 1_000, [0, 100_000], 'on each shard'),
  videoJobsMax: integer(
    'TOLLGATE_VIDEO_JOBS_MAX',
    20,
    [1, 1_000_000],
    'video jobs of an account that are not over',
  ),
  videoDays: integer(
    'TOLLGATE_VIDEO_DAYS',
    30,
    [0, 36_500],
    'generated videos and analyses are kept; 0: until they are removed',
  ),
  videoHaste: integer(
    'TOLLGATE_VIDEO_HASTE',
    1,
    [1, 1_000],
    'what waits and deadlines of video jobs are divided by; for tests',
  ),
  jsonBytesMax: integer(
    'TOLLGATE_JSON_BYTES_MAX',
    1_048_576,
    [1_024, 67_108_864],
    'of JSON bodies',
  ),
  generationBytesMax: integer(
    'TOLLGATE_GENERATION_BYTES_MAX',
    8_388_608,
    [1_024, 67_108_864],
    'of generation bodies',
  ),
  sliceTokens: integer(
    'TOLLGATE_SLICE_TOKENS',
    1_024,
    [1, 1_000_000],
    'output tokens held at once',
  ),
  detachedMax: integer(
    'TOLLGATE_DETACHED_MAX',
    1_000,
    [0, 1_000_000],
    'generations that may run on without their client, half of them of one account',
  ),
  giveawayTokensMax: integer(
    'TOLLGATE_GIVEAWAY_TOKENS_MAX',
    2_000_000,
    [1_000, 1_000_000_000],
    'input tokens a minute that a key may leave before the first word, unpaid',
  ),
  probeSeconds: integer(
    'TOLLGATE_PROBE_SECONDS',
    300,
    [5, 86_400],
    'every provider route is probed this often, for the model status',
  ),
  ledgerConnections: integer(
    'TOLLGATE_LEDGER_CONNECTIONS',
    2,
    [1, 16],
    'database connections of each shard for the ledger; one of them writes',
  ),
  queryConnections: integer(
    'TOLLGATE_QUERY_CONNECTIONS',
    2,
    [1, 64],
    'database connections of each shard for the rest',
  ),
  poolThreads: integer(
    'TOLLGATE_POOL_THREADS',
    Math.min(2, cores),
    [1, 64],
    'threads for CPU-heavy work, started when needed',
  ),
  passwordThreads: integer(
    'TOLLGATE_PASSWORD_THREADS',
    1,
    [1, 64],
    'threads that hash passwords, started when needed',
  ),
  ffmpegPath: optionalText(
    'TOLLGATE_FFMPEG',
    'program that decodes recordings',
    "the newer of the system's and the packaged one",
  ),
  ffprobePath: optionalText('TOLLGATE_FFPROBE', 'program that looks into them', 'likewise'),
  smtpUrl: smtpAddress(
    'TOLLGATE_SMTP_URL',
    'server that mail leaves by: smtp:// or smtps://',
    'none; in dev mode a mailbox at /dev/mailbox',
  ),
  mailFrom: sender(
    'TOLLGATE_MAIL_FROM',
    'sender of mail: an address, or Name <address>',
    'no-reply@ the host of TOLLGATE_WEB_URL',
  ),
  openaiKey: secret('OPENAI_API_KEY', 'registers this provider in dev mode'),
  anthropicKey: secret('ANTHROPIC_API_KEY', 'registers this provider in dev mode'),
  geminiKey: secret('GEMINI_API_KEY', 'registers this provider in dev mode'),
  stripeSecretKey: secret(
    'STRIPE_SECRET_KEY',
    'takes payments in dev mode, in place of a simulator',
  ),
  stripeWebhookSecret: secret('STRIPE_WEBHOOK_SECRET', 'signs its webhooks'),
  razorpayKeyId: secret('RAZORPAY_KEY_ID', 'takes payments in dev mode, in place of a simulator'),
  razorpayKeySecret: secret('RAZORPAY_KEY_SECRET', 'belongs to the key id'),
  razorpayWebhookSecret: secret('RAZORPAY_WEBHOOK_SECRET', 'signs its webhooks'),
} satisfies Record<string, Variable<unknown>>;

type Values = { readonly [K in keyof typeof variables]: ReturnType<(typeof variables)[K]['read']> };

/** What models of a named upstream may be declared to do. */
const upstreamCapabilities = [
  'chat',
  'tools',
  'vision',
  'structured_output',
  'web_search',
  'reasoning',
] as const;

/** An OpenAI-compatible server named by `TOLLGATE_UPSTREAM_<NAME>_URL`. */
export interface ConfiguredUpstream {
  /** Lower case. */
  readonly name: string;
  readonly url: string;
  readonly key: string | null;
  /** What all its models can do; null: nothing was declared. */
  readonly capabilities: readonly (typeof upstreamCapabilities)[number][] | null;
}

/** Plain data, to be sent to threads and child processes. Holds secrets: never log it. */
export interface Config extends Omit<Values, 'mode' | 'baseUrl' | 'webUrl'> {
  readonly mode: 'dev' | 'production';
  readonly baseUrl: string;
  readonly webUrl: string;
  readonly upstreams: readonly ConfiguredUpstream[];
}

/** One line that names the variable at fault. */
export class ConfigError extends Error {}

const UPSTREAM = /^TOLLGATE_UPSTREAM_([A-Z0-9]+(?:_[A-Z0-9]+)*)_(URL|KEY|CAPABILITIES)$/;

type Environment = Readonly<Record<string, string | undefined>>;

/** An empty variable counts as unset, as in compose files. */
function lookUp(environment: Environment, name: string): string | undefined {
  const value = environment[name]?.trim();
  return value === '' ? undefined : value;
}

function readOne<T>(name: string, isSecret: boolean, value: string | undefined, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Expectation)) throw error;
    const line = (value ?? '').slice(0, 100).replace(/\p{Cc}+/gu, ' ');
    const shown = isSecret ? '' : `, not '${line}'`;
    throw new ConfigError(`${name} must be ${error.message}${shown}`);
  }
}

function readVariables(environment: Environment): Values {
  const values: Record<string, unknown> = {};
  for (const [field, variable] of Object.entries(variables)) {
    const value = lookUp(environment, variable.name);
    values[field] = readOne<unknown>(variable.name, variable.secret, value, () =>
      variable.read(value),
    );
  }
  // Every field of the table was filled by its own reader.
  return values as Values;
}

function readUpstreams(environment: Environment): ConfiguredUpstream[] {
  const upstreams: ConfiguredUpstream[] = [];
  for (const name of Object.keys(environment).sort()) {
    const [, label, part] = UPSTREAM.exec(name) ?? [];
    if (label === undefined) continue;
    const value = lookUp(environment, name);
    if (part !== 'URL') {
      const owner = `TOLLGATE_UPSTREAM_${label}_URL`;
      if (value !== undefined && lookUp(environment, owner) === undefined) {
        throw new ConfigError(`${name} needs ${owner} beside it`);
      }
    } else if (value !== undefined) {
      upstreams.push({
        name: label.toLowerCase(),
        // People put credentials into it, or into its query.
        url: readOne(name, true, value, () => parseUpstreamUrl(value)),
        key: lookUp(environment, `TOLLGATE_UPSTREAM_${label}_KEY`) ?? null,
        capabilities: readCapabilities(environment, label),
      });
    }
  }
  return upstreams;
}

function readCapabilities(
  environment: Environment,
  label: string,
): ConfiguredUpstream['capabilities'] {
  const name = `TOLLGATE_UPSTREAM_${label}_CAPABILITIES`;
  const value = lookUp(environment, name);
  if (value === undefined) return null;
  return readOne(name, false, value, () => parseWords(value, upstreamCapabilities));
}

function assertKnown(environment: Environment): void {
  const known = new Set(Object.values(variables).map((variable) => variable.name));
  for (const name of Object.keys(environment).sort()) {
    if (!name.startsWith('TOLLGATE_') || known.has(name)) continue;
    if (UPSTREAM.test(name)) continue;
    throw new ConfigError(`${name} is not a variable of tollgate: see npm start -- --help`);
  }
}

function assertSupported(values: Values): void {
  const unsupported = [
    ['REDIS_URL', values.redisUrl],
    ['TOLLGATE_BLOBS', values.blobs],
  ] as const;
  for (const [name, value] of unsupported) {
    if (value !== null) {
      throw new ConfigError(`${name} is not supported by this version of tollgate: unset it`);
    }
  }
  if ((values.tlsCertPath === null) !== (values.tlsKeyPath === null)) {
    throw new ConfigError('TOLLGATE_TLS_CERT and TOLLGATE_TLS_KEY must be set together');
  }
  const { host, metricsHost } = values;
  if (values.metricsPort === values.port && (isOf(host, metricsHost) || isOf(metricsHost, host))) {
    throw new ConfigError('TOLLGATE_METRICS_PORT must be another port than PORT');
  }
}

/** A provider that takes money in part would take it and never say so. */
function assertComplete(values: Values): void {
  const groups = [
    [
      ['STRIPE_SECRET_KEY', values.stripeSecretKey],
      ['STRIPE_WEBHOOK_SECRET', values.stripeWebhookSecret],
    ],
    [
      ['RAZORPAY_KEY_ID', values.razorpayKeyId],
      ['RAZORPAY_KEY_SECRET', values.razorpayKeySecret],
      ['RAZORPAY_WEBHOOK_SECRET', values.razorpayWebhookSecret],
    ],
  ] as const;
  for (const group of groups) {
    const missing = group.flatMap(([name, value]) => (value === null ? [name] : []));
    if (missing.length === 0 || missing.length === group.length) continue;
    throw new ConfigError(`${group.map(([name]) => name).join(', ')}: ${missing[0]} is missing`);
  }
}

/** Whether who listens on `host` has the port of `other` as well. */
function isOf(other: string, host: string): boolean {
  if (host === 'localhost') return /^(localhost$|127\.|::1$)/.test(other);
  return host === other || host === '0.0.0.0' || host === '::';
}

/** Brackets around an IPv6 address, as RFC 3986 wants them in a URL. */
function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** Where the process can be reached when nobody configured a public origin. */
export function localOrigin(config: Pick<Config, 'host' | 'tlsCertPath'>, port: number): string {
  const scheme = config.tlsCertPath === null ? 'http' : 'https';
  return `${scheme}://${hostInUrl(config.host)}:${port}`;
}

/**
 * Reads the environment. Paths become absolute. Throws ConfigError with one line that names the
 * variable at fault, never with the value of a secret.
 */
export function readConfig(environment: Environment = process.env): Config {
  assertKnown(environment);
  const values = readVariables(environment);
  assertSupported(values);
  const baseUrl = values.baseUrl ?? localOrigin(values, values.port);
  const unconfigured = values.databaseUrl === null && values.configPath === null;
  const mode = values.mode ?? (unconfigured ? 'dev' : 'production');
  if (mode === 'dev') assertComplete(values);
  return Object.freeze({
    ...values,
    mode,
    baseUrl,
    webUrl: values.webUrl ?? baseUrl,
    dataDir: resolve(values.dataDir),
    configPath: values.configPath === null ? null : resolve(values.configPath),
    ffmpegPath: values.ffmpegPath === null ? null : resolve(values.ffmpegPath),
    ffprobePath: values.ffprobePath === null ? null : resolve(values.ffprobePath),
    upstreams: readUpstreams(environment),
  });
}

/** Throws ConfigError when a named file cannot be used: better at start than at its first use. */
export async function assertFilesUsable(config: Config): Promise<void> {
  const files = [
    ['TOLLGATE_CONFIG', config.configPath],
    ['TOLLGATE_TLS_CERT', config.tlsCertPath],
    ['TOLLGATE_TLS_KEY', config.tlsKeyPath],
  ] as const;
  for (const [name, path] of files) {
    if (path === null) continue;
    await access(path, constants.R_OK).catch(() => {
      throw new ConfigError(`${name} names a file that cannot be read: ${path}`);
    });
  }
  const { tlsCertPath, tlsKeyPath } = config;
  if (tlsCertPath === null || tlsKeyPath === null) return;
  try {
    const [cert, key] = await Promise.all([readFile(tlsCertPath), readFile(tlsKeyPath)]);
    createSecureContext({ cert, key });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(
      `TOLLGATE_TLS_CERT and TOLLGATE_TLS_KEY are no certificate with its key: ${reason}`,
    );
  }
}

/** Our environment for a child process, with what it needs besides. */
export function environmentWith(added: Record<string, string>): Record<string, string | undefined> {
  return { ...process.env, ...added };
}

/** The same configuration with a port that was chosen for `PORT=0`. */
export function withPort(config: Config, port: number): Config {
  const unset = localOrigin(config, config.port);
  const chosen = localOrigin(config, port);
  return Object.freeze({
    ...config,
    port,
    baseUrl: config.baseUrl === unset ? chosen : config.baseUrl,
    webUrl: config.webUrl === unset ? chosen : config.webUrl,
  });
}

/** The same configuration with servers where it names none: the simulator's. */
export function withDnsServers(config: Config, servers: readonly string[]): Config {
  return config.dnsServers.length > 0 ? config : Object.freeze({ ...config, dnsServers: servers });
}

/** The table of `npm start -- --help`. */
export function describeVariables(): string {
  const rows = Object.values(variables).map((variable) => [
    variable.name,
    variable.type.length > 20 ? 'choice' : variable.type,
    variable.shownDefault,
    variable.meaning,
  ]);
  rows.push(
    ['TOLLGATE_UPSTREAM_<NAME>_URL', 'url', 'unset', 'an OpenAI-compatible server to register'],
    ['TOLLGATE_UPSTREAM_<NAME>_KEY', 'secret', 'unset', 'its API key'],
    [
      'TOLLGATE_UPSTREAM_<NAME>_CAPABILITIES',
      'list',
      'chat,tools,structured_output',
      `what its models can do: of ${upstreamCapabilities.join(', ')}`,
    ],
  );
  const widths = [0, 1, 2].map((column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lines = rows.map((row) =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '),
  );
  return [
    'npm start -- --plan shows what a start would change in the catalog, and changes nothing',
    'npm run admin:create makes the first administrator, and prints its session token once',
    '',
    'tollgate reads these environment variables:',
    '',
    ...lines,
  ].join('\n');
}
