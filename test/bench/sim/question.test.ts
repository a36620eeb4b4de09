// Which tool a question asks for that holds no directive.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askedTool } from '../../../bench/sim/question.ts';

const tools = ['get_weather', 'listFiles', 'run'].map((name) => ({ name, schema: null }));

function asked(texts: readonly (string | null)[], directiveAt = -1): string | null {
  return askedTool(texts, directiveAt, tools)?.name ?? null;
}

test('a question calls the tool that it names by a word of four letters or more', () => {
  assert.equal(asked(["What's the weather like in San Francisco?"]), 'get_weather');
  assert.equal(asked(['Which files are there?', null]), 'listFiles');
  assert.equal(asked(['Can you get me the run of it?']), null);
  assert.equal(asked(['The weather, please.']), null);
  assert.equal(asked(['How is the weather?', 'Thank you.']), null);
  assert.equal(asked(['How is the weather? [[sim tokens=1]]'], 0), null);
  assert.equal(askedTool(['How is the weather?'], -1, []), null);
});
