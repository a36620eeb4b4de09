// The environment table: defaults, every kind of error in one line, and no secret in any of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLimits } from '../../actors/limits.ts';
import {
  ConfigError,
  describeVariables,
  readConfig,
  withDnsServers,
  withPort,
} from '../../runtime/config.ts';
import { databaseConnectionsMax, effectiveBytesMax } from '../../runtime/limits.ts';

function refusal(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    assert.ok(!error.message.includes('\n'), 'one line');
    return error.message;
  }
  assert.fail('the environment was accepted');
}

test('an empty environment gives dev mode and the documented defaults', () => {
  const config = readConfig({});
  assert.equal(config.mode, 'dev');
  assert.equal(config.port, 8787);
  assert.equal(config.host, '127.0.0.1');
  assert.equal(config.baseUrl, 'http://127.0.0.1:8787');
  assert.equal(config.webUrl, config.baseUrl);
  assert.equal(config.databaseUrl, null);
  assert.equal(config.drainSeconds, 30);
  assert.equal(config.metricsPort, null);
  assert.deepEqual(
    [config.voiceSecondsMax, config.voiceContextChars, config.voiceIdleSeconds],
    [450, 24_000, 60],
  );
  assert.equal(config.passwordThreads, 1);
  assert.ok(config.shards >= 1);
  assert.ok(Object.isFrozen(config));
  assert.deepEqual(structuredClone(config), config, 'plain data for threads');
});

test('a database or a configuration file means production, unless said otherwise', () => {
  const databaseUrl = 'postgres://u:p@db.example/tollgate';
  assert.equal(readConfig({ DATABASE_URL: databaseUrl }).mode, 'production');
  assert.equal(readConfig({ TOLLGATE_CONFIG: 'gate.json' }).mode, 'production');
  assert.equal(readConfig({ DATABASE_URL: databaseUrl, TOLLGATE_MODE: 'dev' }).mode, 'dev');
  const socketUrl = 'postgres://u:p@/tollgate?host=/var/run/postgresql';
  assert.equal(readConfig({ DATABASE_URL: socketUrl }).databaseUrl, socketUrl);
  assert.equal(readConfig({ DATABASE_URL: '' }).mode, 'dev', 'empty counts as unset');
});

test('an unknown TOLLGATE_ variable is named; other variables are nobody’s business', () => {
  assert.match(refusal({ TOLLGATE_PROT: '1' }), /^TOLLGATE_PROT is not a variable/);
  assert.match(refusal({ TOLLGATE_UPSTREAM_URL: 'http://a' }), /^TOLLGATE_UPSTREAM_URL is not/);
  assert.equal(readConfig({ PATH: '/bin', npm_config_x: '1' }).port, 8787);
});

test('DNS servers are addresses with ports; the simulator stands in where none is named', () => {
  const named = readConfig({ TOLLGATE_DNS_SERVERS: '192.0.2.1:53, [2001:db8::1]:53,192.0.2.1:53' });
  assert.deepEqual(named.dnsServers, ['192.0.2.1:53', '[2001:db8::1]:53']);
  assert.equal(withDnsServers(named, ['127.0.0.1:1']), named);
  const unnamed = readConfig({});
  assert.deepEqual(unnamed.dnsServers, []);
  assert.deepEqual(withDnsServers(unnamed, ['127.0.0.1:1']).dnsServers, ['127.0.0.1:1']);
  const many = Array(9).fill('192.0.2.1:53').join(',');
  for (const text of ['dns.example:53', '192.0.2.1', '192.0.2.1:0', '::1:53', many]) {
    assert.match(
      refusal({ TOLLGATE_DNS_SERVERS: text }),
      /^TOLLGATE_DNS_SERVERS must be at most 8/,
    );
  }
  assert.equal(readConfig({}).region, null);
  assert.equal(readConfig({ TOLLGATE_REGION: 'eu' }).region, 'eu');
  assert.match(refusal({ TOLLGATE_REGION: 'auto' }), /^TOLLGATE_REGION must be one of us, eu, in/);
});

test('a mail server is a URL whose password is never shown, its sender one address', () => {
  const smtpUrl = 'smtps://gate:p%40ss@mail.example:465/?tls.servername=mx.example';
  const config = readConfig({ TOLLGATE_SMTP_URL: smtpUrl });
  assert.equal(config.smtpUrl, smtpUrl);
  assert.equal(config.mailFrom, null);
  for (const url of ['mail.example:25', 'http://gate:hunter2@mail.example', 'smtp:///hunter2']) {
    const line = refusal({ TOLLGATE_SMTP_URL: url });
    assert.match(line, /^TOLLGATE_SMTP_URL must be a URL that/);
    assert.doesNotMatch(line, /hunter2|mail\.example/);
  }
  assert.match(refusal({ TOLLGATE_SMTP_URL: 'smtp://a:%x@b' }), /percent signs/);
  const sender = (text: string) => readConfig({ TOLLGATE_MAIL_FROM: text }).mailFrom;
  assert.deepEqual(sender('gate@example.com'), { name: '', address: 'gate@example.com' });
  const named = { name: 'Tollgäte, Inc.', address: 'gate@bücher.example' };
  assert.deepEqual(sender('Tollgäte, Inc. <gate@bücher.example>'), named);
  assert.deepEqual(sender('"Tollgäte, Inc." <gate@bücher.example>'), named);
  for (const text of ['gate', 'a@b, c@d', 'A <a@b> B', 'A <a@b>\r\nBcc: c@d', '<>', 'a@b c']) {
    assert.match(refusal({ TOLLGATE_MAIL_FROM: text }), /^TOLLGATE_MAIL_FROM must be an address/);
  }
});

test('a bad value is named with what would have been right', () => {
  const cases: [string, string, RegExp][] = [
    ['PORT', '80a', /^PORT must be an integer from 0 to 65535, not '80a'$/],
    ['PORT', '65536', /^PORT must be an integer/],
    ['PORT', '1e3', /^PORT must be an integer/],
    ['TOLLGATE_SHARDS', '0', /^TOLLGATE_SHARDS must be an integer from 1 to 255/],
    ['TOLLGATE_MODE', 'prod', /^TOLLGATE_MODE must be one of dev, production, not 'prod'$/],
    ['TOLLGATE_LOG_LEVEL', 'loud', /^TOLLGATE_LOG_LEVEL must be one of trace/],
    ['TOLLGATE_BASE_URL', 'https://a.example/v1', /^TOLLGATE_BASE_URL must be an origin/],
    ['TOLLGATE_BASE_URL', 'a.example', /^TOLLGATE_BASE_URL must be a URL that starts with http/],
    ['DATABASE_URL', 'mysql://u:hunter2@h/d', /^DATABASE_URL must be a URL .* postgres:\/\//],
    ['DATABASE_URL', 'postgres://u:hunter2%@h/d', /^DATABASE_URL .* percent signs begin escapes/],
    ['DATABASE_URL', 'postgres://u:hunter2@h/d?port=x', /^DATABASE_URL .* port is a number$/],
    [
      'DATABASE_URL',
      'postgres://u:hunter2@h/d?sslmode=require&sslrootcert=/ca.pem',
      /^DATABASE_URL .* NODE_EXTRA_CA_CERTS names that file$/,
    ],
    [
      'DATABASE_URL',
      'postgres://u:hunter2@h/d?sslmode=required',
      /^DATABASE_URL .* sslmode is one/,
    ],
    ['TOLLGATE_SECRET', 'hunter2', /^TOLLGATE_SECRET must be 32 bytes as base64url/],
    ['TOLLGATE_TRUSTED_PROXIES', '10.0.0.0/33', /^TOLLGATE_TRUSTED_PROXIES must be addresses/],
    ['TOLLGATE_TRUSTED_PROXIES', '10.0.0.0/8/8', /^TOLLGATE_TRUSTED_PROXIES must be addresses/],
    ['TOLLGATE_TRUSTED_PROXIES', '10.0.0.0/0008', /^TOLLGATE_TRUSTED_PROXIES must be addresses/],
    ['TOLLGATE_TRUSTED_PROXIES', 'fe80::1%eth0', /^TOLLGATE_TRUSTED_PROXIES must be addresses/],
    ['TOLLGATE_TRUSTED_PROXIES', 'proxy', /^TOLLGATE_TRUSTED_PROXIES must be addresses/],
    ['TOLLGATE_FETCH_PRIVATE', '10.0.0.0/33', /^TOLLGATE_FETCH_PRIVATE must be host\[:port\] or/],
    ['TOLLGATE_FETCH_PRIVATE', 'a:80,,b', /^TOLLGATE_FETCH_PRIVATE must be host/],
    ['TOLLGATE_FETCH_PRIVATE', '169.254.169.254', /none of a metadata service, not '169/],
    ['TOLLGATE_UPSTREAM_LOCAL_URL', 'ftp://x', /^TOLLGATE_UPSTREAM_LOCAL_URL must be a URL/],
    ['TOLLGATE_UPSTREAM_LOCAL_URL', 'http://u:hunter2@h/v1?a=b', /_LOCAL_URL must be a URL with/],
    ['TOLLGATE_UPSTREAM_LOCAL_URL', 'http://h/v1?key=hunter2', /_LOCAL_URL must be a URL without/],
    ['TOLLGATE_UPSTREAM_LOCAL_KEY', 'hunter2', /_LOCAL_KEY needs TOLLGATE_UPSTREAM_LOCAL_URL/],
    ['TOLLGATE_TLS_CERT', 'a.pem', /^TOLLGATE_TLS_CERT and TOLLGATE_TLS_KEY must be set together/],
    ['TOLLGATE_VOICE_MAX_SECONDS', '-1', /^TOLLGATE_VOICE_MAX_SECONDS must be an integer/],
  ];
  for (const [name, value, expected] of cases) {
    const message = refusal({ [name]: value });
    assert.match(message, expected);
    assert.ok(!message.includes('hunter2'), `${name} shows a secret`);
  }
});

test('metrics and API have a port of their own each', () => {
  const same = { PORT: '9000', TOLLGATE_METRICS_PORT: '9000' };
  assert.match(refusal(same), /^TOLLGATE_METRICS_PORT must be another port than PORT$/);
  assert.equal(readConfig({ ...same, HOST: '10.0.0.1' }).metricsPort, 9_000);
  assert.match(refusal({ ...same, HOST: 'localhost' }), /^TOLLGATE_METRICS_PORT must be another/);
  for (const host of ['0.0.0.0', '::']) {
    assert.match(refusal({ ...same, HOST: host }), /^TOLLGATE_METRICS_PORT must be another/);
    const other = { ...same, HOST: '10.0.0.1', TOLLGATE_METRICS_HOST: host };
    assert.match(refusal(other), /^TOLLGATE_METRICS_PORT must be another/);
  }
});

test('an address of IPv6 is taken with and without the brackets of a URL', () => {
  for (const HOST of ['::1', '[::1]']) assert.equal(readConfig({ HOST }).host, '::1');
});

test('what this version does not support stops the start', () => {
  assert.match(refusal({ REDIS_URL: 'redis://h' }), /^REDIS_URL is not supported by this version/);
  assert.match(refusal({ TOLLGATE_BLOBS: 's3://b/p' }), /^TOLLGATE_BLOBS is not supported/);
});

test('what the outbound guard lets through is a list', () => {
  assert.deepEqual(readConfig({}).fetchPrivate, []);
  const list = 'files.internal:8080, 10.0.0.0/8 ,[::1]:80,localhost';
  assert.deepEqual(readConfig({ TOLLGATE_FETCH_PRIVATE: list }).fetchPrivate, [
    'files.internal:8080',
    '10.0.0.0/8',
    '[::1]:80',
    'localhost',
  ]);
});

test('named upstreams are collected with their keys', () => {
  const config = readConfig({
    TOLLGATE_UPSTREAM_LOCAL_URL: 'http://127.0.0.1:11434/v1/',
    TOLLGATE_UPSTREAM_BIG_BOX_URL: 'https://box.example/v1',
    TOLLGATE_UPSTREAM_BIG_BOX_KEY: 'k',
    TOLLGATE_UPSTREAM_BIG_BOX_CAPABILITIES: 'vision, chat,tools,chat',
  });
  assert.deepEqual(config.upstreams, [
    {
      name: 'big_box',
      url: 'https://box.example/v1',
      key: 'k',
      capabilities: ['chat', 'tools', 'vision'],
    },
    { name: 'local', url: 'http://127.0.0.1:11434/v1', key: null, capabilities: null },
  ]);
});

test('capabilities of an upstream are words of a list, and stand beside its address', () => {
  const name = 'TOLLGATE_UPSTREAM_BOX_CAPABILITIES';
  const box = { TOLLGATE_UPSTREAM_BOX_URL: 'http://h/v1' };
  for (const value of ['chat,sight', 'chat,,tools', 'audio']) {
    assert.match(refusal({ ...box, [name]: value }), /_BOX_CAPABILITIES must be a list of chat, /);
  }
  assert.match(refusal({ [name]: 'chat' }), /_CAPABILITIES needs TOLLGATE_UPSTREAM_BOX_URL/);
  assert.equal(readConfig({ ...box, [name]: '' }).upstreams[0]?.capabilities, null);
});

test('a chosen port moves the default origins, not configured ones', () => {
  const moved = withPort(readConfig({ PORT: '0', HOST: '::1' }), 4_000);
  assert.equal(moved.baseUrl, 'http://[::1]:4000');
  const fixed = withPort(readConfig({ PORT: '0', TOLLGATE_BASE_URL: 'https://a.example' }), 4_000);
  assert.equal(fixed.baseUrl, 'https://a.example');
  assert.equal(fixed.port, 4_000);
});

test('the help names every variable with its meaning', () => {
  const help = describeVariables();
  for (const name of ['PORT', 'DATABASE_URL', 'TOLLGATE_VOICE_SESSIONS_MAX', 'OPENAI_API_KEY']) {
    assert.ok(help.includes(name), name);
  }
});

test('configured bounds reach the limits, and contradictions between them do not start', () => {
  const limits = createLimits(readConfig({ TOLLGATE_GENERATION_BYTES_MAX: '2048' }));
  assert.equal(effectiveBytesMax(8_388_608, limits), 2_048);
  assert.equal(effectiveBytesMax(1_048_576, limits), 1_048_576);
  assert.equal(effectiveBytesMax(77, limits), 77);
  assert.equal(databaseConnectionsMax(limits, 2), 100);
  assert.equal(databaseConnectionsMax(limits, 64), 288);
});
