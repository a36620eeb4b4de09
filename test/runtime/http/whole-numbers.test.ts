// Numbers that JavaScript would round keep their digits where a call has them, and nowhere else.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toolInput } from '../../../media/model/dialects/messages/blocks.ts';
import { readMessages } from '../../../media/model/dialects/messages/content.ts';
import {
  type MessagesRequestBody,
  messagesRequestSchema,
} from '../../../media/model/dialects/messages/schema.ts';
import { noSeals } from '../../../media/model/seals.ts';
import { parseJson } from '../../../runtime/http/json.ts';
import { jsonPieces } from '../../../runtime/http/json-pieces.ts';
import { parseLongJson } from '../../../runtime/http/long-json.ts';
import { validateBody } from '../../../runtime/http/validate.ts';
import { readJson, writeJson } from '../../../runtime/http/whole-numbers.ts';
import { fc } from '../../harness/properties.ts';

const large = '1234567890123456789';
const call = `{"id":${large},"list":[-98765432109876543210,{"a":9007199254740993}],"s":"${large}"}`;

test('what is read is written as it was, in one text and in pieces', () => {
  const value = readJson(call);
  assert.equal(writeJson(value), call);
  assert.equal([...jsonPieces(value as Record<string, unknown>, 8)].join(''), call);
  assert.equal(JSON.stringify(value), JSON.stringify(JSON.parse(call)), 'rounded for all others');
});

test('anything else is read as by JSON.parse', () => {
  const digits = fc.stringMatching(/^[0-9]{14,18}$/);
  const small = fc.double({ min: -1e15, max: 1e15 });
  const leaf = fc.oneof(small, fc.maxSafeInteger(), fc.string(), digits);
  const property = fc.property(fc.dictionary(fc.string(), fc.array(leaf)), (value) => {
    const text = JSON.stringify(value);
    assert.deepEqual(readJson(text), JSON.parse(text));
  });
  fc.assert(property);
  for (const text of ['12345678901234567890.5', '1234567890123456789e3', `"\\"${large}"`]) {
    assert.deepEqual(readJson(text), JSON.parse(text));
  }
  assert.throws(() => readJson(`{"a":${large}`), SyntaxError);
});

test('the arguments of a call are an object with the digits that the model wrote', () => {
  assert.equal(writeJson({ input: toolInput(call) }), `{"input":${call}}`);
});

test('a call of a history keeps its digits, and beside it are numbers', async () => {
  const use = `{"type":"tool_use","id":"t","name":"f","input":${call}}`;
  const messages = `[{"role":"user","content":"x"},{"role":"assistant","content":[${use}]}]`;
  const body = Buffer.from(
    `{"model":"m","max_tokens":${large},"own":{"input":${large}},"messages":${messages}}`,
  );
  for (const parsed of [parseJson(body), await parseLongJson(body, 16)]) {
    const read = validateBody(messagesRequestSchema, parsed) as MessagesRequestBody;
    assert.equal(readMessages(read, noSeals)[1]?.toolCalls[0]?.arguments, call);
    assert.equal(read.max_tokens, Number(large));
    // As it is forwarded to a provider of the same format.
    assert.equal(writeJson(read.messages), messages);
    assert.equal(writeJson((read as Record<string, unknown>).own), `{"input":${Number(large)}}`);
  }
});
