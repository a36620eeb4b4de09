// Which questions make a managed route search the web by itself, and which must not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asksForNews } from '../../../../media/model/choose/news.ts';
import { cpuMsOf } from '../../../harness/stopwatch.ts';

const current = [
  'What is the weather in Oslo today?',
  'latest news about the election in Chile',
  'Which is the newest version of Node.js?',
  'Wie ist das Wetter heute in Köln?',
  'Quelle est la météo aujourd’hui à Lyon ?',
  'Please search the web for reviews of this bike',
  'share price of ASML right now',
  'últimas noticias de Bogotá',
];

const timeless = [
  'Explain how TCP slow start works.',
  'Write a poem about the weather.',
  'Fix this test: expected version 2, got 1',
  '```\nlatest version: 3\n```\nWhy does this script print the latest version today?',
  'Translate "the latest fashion" into German.',
  'stockpile the actuality of todayness',
  '',
];

test('questions about the state of the day are searched for', () => {
  for (const question of current) assert.ok(asksForNews(question), question);
});

test('what a model can know is not', () => {
  for (const question of timeless) assert.ok(!asksForNews(question), question);
});

test('only the end of a long text is read', async () => {
  assert.ok(!asksForNews(`news today ${'x'.repeat(5_000)}`));
  const text = 'latest '.repeat(200_000);
  assert.ok((await cpuMsOf(() => asksForNews(text))) < 1_000);
});
