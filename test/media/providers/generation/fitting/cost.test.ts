// What fitting costs, held against parsing the body: a tenth of it at most for 200 tools of 2 KB.
// The shortest of many runs of each is what the machine can do when nothing else runs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GenerationRequest } from '../../../../../media/model/request.ts';
import { familyNames, requireFamily } from '../../../../../media/providers/generation/families.ts';
import { parseJson } from '../../../../../runtime/http/json.ts';
import { upstreamTarget } from '../../../../harness/request.ts';
import { asked, type Members } from './asked.ts';

const toolCount = 200;
const shareMax = 0.1;
const rounds = 200;

function propertyOf(index: number): Members {
  const description = `What the tool is told about member number ${index} of its arguments`;
  if (index % 3 === 0) return { type: 'array', items: { type: 'string' }, description };
  if (index % 5 === 0) return { type: 'string', enum: ['one', 'two', 'three'], description };
  if (index % 7 === 0) return { type: 'string', pattern: '^[a-z0-9_-]{1,40}$', description };
  return { type: 'string', description };
}

const properties = Object.fromEntries(
  Array.from({ length: 20 }, (_, index) => [`member_${index}`, propertyOf(index + 1)]),
);
const parameters = { type: 'object', properties, required: ['member_1'] };

function bodyOf(format: 'chat' | 'messages'): string {
  const tools = Array.from({ length: toolCount }, (_, index) => {
    const named = { name: `tool_${index}`, description: 'Does a thing.' };
    if (format === 'messages') return { ...named, input_schema: parameters };
    return { type: 'function', function: { ...named, parameters } };
  });
  return JSON.stringify({ tools, messages: [{ role: 'user', content: 'hi' }] });
}

function elapsed(work: () => void): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}

for (const name of familyNames) {
  test(`${name}: 200 tools of 2 KB cost a tenth of parsing them at most`, () => {
    const format = name === 'anthropic-messages' ? 'chat' : 'messages';
    const bytes = Buffer.from(bodyOf(format));
    assert.ok(bytes.length > toolCount * 2_000);
    const family = requireFamily(name);
    const target = upstreamTarget(name);
    let [parseMs, fitMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let round = 0; round < rounds; round += 1) {
      let body: Members = {};
      const parsing = elapsed(() => {
        body = parseJson(bytes) as Members;
      });
      // Each request has objects of its own, as a new body has.
      const request: GenerationRequest = asked(format, body);
      const fitting = elapsed(() => {
        const fitted = family.fit(request, target, {});
        assert.ok('request' in fitted && fitted.request === request);
      });
      parseMs = Math.min(parseMs, parsing);
      fitMs = Math.min(fitMs, fitting);
    }
    assert.ok(fitMs <= parseMs * shareMax, `${fitMs} ms of ${parseMs} ms`);
  });
}

test('a request without tools costs as good as nothing', () => {
  const request = asked('messages', { messages: [{ role: 'user', content: 'hi' }] });
  for (const name of familyNames) {
    const family = requireFamily(name);
    const target = upstreamTarget(name);
    let fitMs = Number.POSITIVE_INFINITY;
    for (let round = 0; round < rounds; round += 1) {
      fitMs = Math.min(
        fitMs,
        elapsed(() => {
          for (let each = 0; each < 100; each += 1) family.fit(request, target, {});
        }),
      );
    }
    assert.ok(fitMs / 100 < 0.02, `${name}: ${fitMs / 100} ms`);
  }
});
