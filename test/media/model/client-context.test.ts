// What the model is told of its user: nothing where the client said nothing, blanks included.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withClientContext } from '../../../media/model/client-context.ts';
import { readControls } from '../../../media/model/dialects/fields.ts';
import { neutralRequest, userMessage } from '../../harness/request.ts';

function told(context: Record<string, string>): string[] {
  const controls = readControls({ client_context: context });
  const request = neutralRequest({ messages: [userMessage('hi')], controls });
  const { messages } = withClientContext(request, 0);
  return messages[0]?.parts.map((part) => (part.type === 'text' ? part.text : '')) ?? [];
}

test('a context of blanks adds nothing to the request', () => {
  assert.deepEqual(told({}), ['hi']);
  assert.deepEqual(told({ timezone: '', locale: '' }), ['hi']);
  assert.deepEqual(told({ timezone: ' ', locale: '\t ' }), ['hi']);
});

test('what is known is told in one line before the question', () => {
  assert.deepEqual(told({ timezone: '', locale: 'de-DE' }), [
    '[About the user: locale de-DE]\n',
    'hi',
  ]);
});
