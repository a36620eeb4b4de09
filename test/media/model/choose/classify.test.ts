// How often the classifier is right, on labelled prompts of which half were never looked at while
// it was tuned; and that its work is bounded, whatever it is given.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type TaskCategory, taskCategories } from '../../../../media/model/choose/category.ts';
import { classifyTask, type TaskRequest } from '../../../../media/model/choose/classify.ts';
import { fc } from '../../../harness/properties.ts';
import { type LabelledPrompt, readPrompts, say } from './prompts.ts';

const prompts = readPrompts();

interface Score {
  right: number;
  total: number;
  /** By label. */
  recall: Map<TaskCategory, { right: number; total: number }>;
}

function scoreOf(half: LabelledPrompt['half']): Score {
  const recall = new Map(taskCategories.map((name) => [name, { right: 0, total: 0 }]));
  const score: Score = { right: 0, total: 0, recall };
  for (const { category, request, half: own } of prompts) {
    if (own !== half) continue;
    const isRight = classifyTask(request).category === category;
    const entry = recall.get(category);
    assert.ok(entry !== undefined, `${category} is a category`);
    for (const count of [score, entry]) {
      count.total += 1;
      if (isRight) count.right += 1;
    }
  }
  return score;
}

function shown({ right, total, recall }: Score): string {
  const each = [...recall].map(([name, count]) => `${name} ${count.right}/${count.total}`);
  return `${right} of ${total} (${((100 * right) / total).toFixed(1)} %): ${each.join(', ')}`;
}

function request(text: string, more: Partial<TaskRequest> = {}): TaskRequest {
  const messages = [say('user', text)];
  return { messages, tools: [], toolChoice: null, outputFormat: { type: 'text' }, ...more };
}

test('the labelled set is large, has every category in both halves and none twice', () => {
  assert.ok(prompts.length >= 300, `${prompts.length}`);
  const seen = new Set(prompts.map(({ text }) => text));
  assert.equal(seen.size, prompts.length);
  for (const half of ['dev', 'held'] as const) {
    for (const [name, { total }] of scoreOf(half).recall) assert.ok(total >= 10, `${half} ${name}`);
  }
});

test('at least 85 % of the prompts that it was not tuned on are classified right', (context) => {
  const dev = scoreOf('dev');
  const held = scoreOf('held');
  context.diagnostic(`tuned on: ${shown(dev)}`);
  context.diagnostic(`held out: ${shown(held)}`);
  assert.ok(held.right / held.total >= 0.85, shown(held));
  assert.ok(dev.right / dev.total >= 0.85, shown(dev));
  for (const [name, { right, total }] of held.recall) {
    assert.ok(right / total >= 0.6, `${name}: ${shown(held)}`);
  }
});

test('confidence is more where the classifier is right than where it is wrong', () => {
  const confidences = { right: [] as number[], wrong: [] as number[] };
  for (const { category, request: asked } of prompts) {
    const task = classifyTask(asked);
    assert.ok(task.confidence > 0 && task.confidence < 1);
    confidences[task.category === category ? 'right' : 'wrong'].push(task.confidence);
  }
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  assert.ok(mean(confidences.right) > mean(confidences.wrong) + 0.05);
});

test('tools alone make no agent; tools in use or demanded do', () => {
  const tools = [{ name: 'get_weather' }];
  const math = 'What is the integral of x^2?';
  assert.equal(classifyTask(request(math, { tools })).category, 'math');
  assert.equal(classifyTask(request(math, { tools, toolChoice: 'required' })).category, 'agent');
  const forced = { name: 'get_weather' };
  assert.equal(classifyTask(request(math, { tools, toolChoice: forced })).category, 'agent');
  assert.equal(classifyTask(request('Weather in Oslo', { tools })).category, 'agent');
  assert.equal(classifyTask(request('Weather in Oslo')).category, 'chat');
});

test('a request without a word of the user is chat', () => {
  const empty = { ...request(''), messages: [] };
  assert.equal(classifyTask(empty).category, 'chat');
  assert.equal(classifyTask(request('')).category, 'chat');
  const image = say('user', '');
  image.parts = [{ type: 'image', url: 'data:image/png;base64,AA==', detail: null }];
  assert.equal(classifyTask({ ...request(''), messages: [image] }).category, 'chat');
});

test('a long text is judged by its two ends', () => {
  const filler = 'The river was wide and the boat was slow. '.repeat(20_000);
  const before = `Summarize the following text.\n\n${filler}`;
  const after = `${filler}\n\nSummarize the text above in three sentences.`;
  assert.equal(classifyTask(request(before)).category, 'summarization');
  assert.equal(classifyTask(request(after)).category, 'summarization');
});

const piece = fc.oneof(
  fc.constantFrom(...prompts.map(({ text }) => text)),
  fc.constantFrom('"', '„', '`', '```', ': ', '?', '\n', 'a=1+', '[[1.1 ', "'", '<', '翻', '\0'),
  fc.string({ unit: 'binary', maxLength: 20 }),
);

test('any text has a category and a confidence', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.nat(400), (pieces, times) => {
      const text = pieces.join('').repeat(times);
      const { category, confidence } = classifyTask(request(text, { tools: [{ name: text }] }));
      assert.ok(taskCategories.includes(category));
      assert.ok(confidence > 0 && confidence < 1);
    }),
    { numRuns: 300 },
  );
});

test('what stands between the two ends of a text is not looked at', () => {
  fc.assert(
    fc.property(fc.array(piece), fc.array(piece), (before, after) => {
      const head = before.join('').padEnd(1_200, ' a').slice(0, 1_200);
      const tail = after.join('').padStart(601, 'a ').slice(-601);
      const classify = (middle: string) => classifyTask(request(`${head}${middle}${tail}`));
      assert.deepEqual(classify('Translate this! '.repeat(1_000)), classify('x'));
    }),
    { numRuns: 200 },
  );
});
