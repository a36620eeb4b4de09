// What is sent on an idle stream, byte by byte: clients in the field break on anything else.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chatDialect } from '../../../../media/model/dialects/chat/dialect.ts';
import { legacyDialect } from '../../../../media/model/dialects/legacy/dialect.ts';
import { messagesDialect } from '../../../../media/model/dialects/messages/dialect.ts';
import { responsesDialect } from '../../../../media/model/dialects/responses/dialect.ts';

test('Chat, Responses and the legacy form: one comment line, and no blank line behind it', () => {
  for (const { name, keepAlive } of [chatDialect, responsesDialect, legacyDialect]) {
    assert.match(keepAlive, /^:[^\n]*\n$/, name);
  }
});

test('Messages: a ping, as the format has it', () => {
  assert.equal(messagesDialect.keepAlive, 'event: ping\ndata: {"type":"ping"}\n\n');
});
