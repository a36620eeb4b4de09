// The start message: what is taken, with which defaults, and what is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readStart, type StartMessage } from '../../../actors/voice/start.ts';

const least = { type: 'start', mode: 'full', voice_id: 'alloy' };
const charactersMax = 24_000;

function read(value: unknown): ReturnType<typeof readStart> {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return readStart(text, Buffer.byteLength(text), charactersMax);
}

function accepted(members: Record<string, unknown>): StartMessage {
  const reading = read({ ...least, ...members });
  assert.ok(reading.ok, reading.ok ? '' : reading.message);
  return reading.start;
}

function refused(value: unknown, pattern: RegExp): void {
  const reading = read(value);
  assert.ok(!reading.ok, `accepted: ${JSON.stringify(value).slice(0, 200)}`);
  assert.match(reading.message, pattern);
}

const refusedWith = (members: Record<string, unknown>, pattern: RegExp) =>
  refused({ ...least, ...members }, pattern);

test('the least start has every default', () => {
  assert.deepEqual(accepted({}), {
    voiceId: 'alloy',
    context: [],
    toolsEnabled: false,
    clientContext: { timezone: '', utcOffsetMinutes: 0, locale: '', temperatureUnit: '' },
    continuationToken: null,
  });
});

test('bounds are inclusive, and characters are counted, not UTF-16 units', () => {
  const face = '🎙';
  const message = (length: number) => ({ role: 'user', content: face.repeat(length) });
  assert.equal(accepted({ context: [message(4_000)] }).context.length, 1);
  refusedWith({ context: [message(4_001)] }, /context\[0\]\.content: at most 4000/);
  const many = Array.from({ length: 40 }, () => ({ role: 'assistant', content: 'x' }));
  assert.equal(accepted({ context: many }).context.length, 40);
  refusedWith({ context: [...many, { role: 'user', content: 'x' }] }, /at most 40 messages/);
  const long = { role: 'user', content: 'x'.repeat(4_000) };
  assert.equal(accepted({ context: Array(6).fill(long) }).context.length, 6);
  refusedWith({ context: [...Array(6).fill(long), message(1)] }, /at most 24000 characters/);
  const zone = { timezone: 'é'.repeat(100), locale: face.repeat(40) };
  assert.equal(accepted({ client_context: zone }).clientContext.timezone.length, 100);
  refusedWith({ client_context: { timezone: 'é'.repeat(101) } }, /timezone: at most 100/);
  refusedWith({ client_context: { locale: face.repeat(41) } }, /locale: at most 40/);
  assert.ok(accepted({ continuation_token: 'x'.repeat(2_048) }).continuationToken !== null);
  // As session.ready gives it to who has none.
  assert.equal(accepted({ continuation_token: null }).continuationToken, null);
  refusedWith({ continuation_token: 'x'.repeat(2_049) }, /at most 2048/);
  for (const offset of [-840, 840]) accepted({ client_context: { utc_offset_minutes: offset } });
  for (const offset of [-841, 841, 1.5, '0']) {
    refusedWith({ client_context: { utc_offset_minutes: offset } }, /utc_offset_minutes/);
  }
});

test('the objects are closed, and prototype names are members like any other', () => {
  refusedWith({ model: 'x' }, /model: is not a known member/);
  refusedWith({ client_context: { share_location: true } }, /share_location/);
  refusedWith({ context: [{ role: 'user', content: 'x', name: 'y' }] }, /context\[0\]\.name/);
  refused('{"type":"start","mode":"full","voice_id":"a","__proto__":{}}', /__proto__/);
  refused('{"type":"start","mode":"full","voice_id":"a","constructor":1}', /constructor/);
});

test('types, fixed values and roles are exact', () => {
  refused('not json', /not JSON/);
  refused('', /not JSON/);
  for (const value of ['null', '[]', '1', '"start"']) refused(value, /must be an object/);
  refusedWith({ type: 'begin' }, /type/);
  for (const mode of ['half', null, 1]) refusedWith({ mode }, /mode/);
  for (const voice of ['', 1, null]) refusedWith({ voice_id: voice }, /voice_id/);
  refused({ type: 'start', mode: 'full' }, /voice_id/);
  refusedWith({ tools_enabled: 'true' }, /tools_enabled/);
  refusedWith({ context: {} }, /context: must be an array/);
  refusedWith({ context: [null] }, /context\[0\]: must be an object/);
  refusedWith({ context: [{ role: 'system', content: 'x' }] }, /role/);
  for (const content of ['', ' \n\t', 1, null]) {
    refusedWith({ context: [{ role: 'user', content }] }, /content/);
  }
  refusedWith({ client_context: null }, /client_context: must be an object/);
  refusedWith({ client_context: { temperature_unit: 'kelvin' } }, /temperature_unit/);
  for (const unit of ['', 'celsius', 'fahrenheit']) {
    accepted({ client_context: { temperature_unit: unit } });
  }
});

test('strings of the client context have no control characters', () => {
  for (const code of [0, 9, 10, 13, 31, 127, 128, 159]) {
    const text = `a${String.fromCharCode(code)}b`;
    refusedWith({ client_context: { timezone: text } }, /control characters/);
    refusedWith({ client_context: { locale: text } }, /control characters/);
  }
  accepted({ context: [{ role: 'user', content: 'two\nlines\tand a tab' }] });
});

test('32 KiB are taken, one byte more is not', () => {
  const text = JSON.stringify({ ...least, continuation_token: '' });
  const padded = (bytes: number) => `${text}${' '.repeat(bytes - Buffer.byteLength(text))}`;
  assert.ok(read(padded(32_768)).ok);
  refused(padded(32_769), /larger than 32 KiB/);
});

test('halves of surrogate pairs become U+FFFD: parsers of providers refuse them', () => {
  const content = '\ud800a\udc00 \ud83c\udf99 b\ud83c';
  const client = { timezone: 'Europe/\udf99', locale: '\ud83cen' };
  const { context, clientContext } = accepted({
    context: [{ role: 'user', content }],
    client_context: client,
  });
  assert.deepEqual(context, [{ role: 'user', content: '\ufffda\ufffd \ud83c\udf99 b\ufffd' }]);
  assert.equal(clientContext.timezone, 'Europe/\ufffd');
  assert.equal(clientContext.locale, '\ufffden');
});
