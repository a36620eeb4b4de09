// Every public code in every envelope: status, exact members, types, headers.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { messagesError } from '../../media/model/dialects/messages/error.ts';
import { envelopeOf, plainError, renderProblem, v1Error } from '../../routes/problems.ts';
import { Problem, type ProblemCode, problemCodes } from '../../runtime/problem.ts';

/** decisions.md, section 2, by status: the type under /v1 and under /v1/messages. */
const types: Record<number, [v1: string, messages: string]> = {
  400: ['invalid_request_error', 'invalid_request_error'],
  401: ['authentication_error', 'authentication_error'],
  402: ['insufficient_quota', 'billing_error'],
  403: ['permission_error', 'permission_error'],
  404: ['not_found_error', 'not_found_error'],
  405: ['invalid_request_error', 'invalid_request_error'],
  406: ['invalid_request_error', 'invalid_request_error'],
  409: ['conflict_error', 'conflict_error'],
  413: ['invalid_request_error', 'request_too_large'],
  415: ['invalid_request_error', 'invalid_request_error'],
  422: ['invalid_request_error', 'invalid_request_error'],
  426: ['invalid_request_error', 'invalid_request_error'],
  429: ['rate_limit_error', 'rate_limit_error'],
  500: ['api_error', 'api_error'],
  502: ['api_error', 'api_error'],
  503: ['api_error', 'overloaded_error'],
  504: ['api_error', 'timeout_error'],
};
/** The same section, by status: its codes. */
const codesByStatus: Record<number, readonly string[]> = {
  400: ['invalid_request', 'context_length_exceeded', 'not_available'],
  401: ['unauthenticated', 'invalid_api_key', 'session_expired'],
  402: ['insufficient_credits', 'spend_limit_exceeded'],
  403: ['insufficient_scope', 'forbidden', 'policy_blocked'],
  404: ['not_found', 'model_not_found'],
  405: ['method_not_allowed'],
  406: ['not_acceptable'],
  409: ['conflict', 'invalid_state'],
  413: ['request_too_large'],
  415: ['unsupported_media_type'],
  422: ['idempotency_key_reused', 'unprocessable_media', 'input_too_long'],
  426: ['upgrade_required'],
  429: ['rate_limited', 'concurrency_limited'],
  500: ['internal'],
  502: ['upstream_error'],
  503: ['overloaded', 'no_route_available', 'dependency_unavailable', 'upstream_busy'],
  504: ['upstream_timeout'],
};
const codes = Object.keys(problemCodes) as ProblemCode[];
const requestId = 'r-1';

for (const code of codes) {
  test(`${code} in every envelope`, () => {
    const problem = new Problem(code, { param: 'a[0].b' });
    const { status, message } = problemCodes[code];
    const [v1Type, messagesType] = types[status] ?? [];
    const at = (path: string) => renderProblem(path, problem, requestId);
    assert.deepEqual(at('/v1/chat/completions').body, {
      error: { message, type: v1Type, code, param: 'a[0].b' },
    });
    assert.deepEqual(at('/v1/messages').body, {
      type: 'error',
      error: { type: messagesType, message },
      request_id: requestId,
    });
    assert.deepEqual(at('/v1/voice/voices').body, {
      ok: false,
      error: { code, message, request_id: requestId, details: { path: 'a[0].b' } },
    });
    const oauth = at('/oauth/revoke').body;
    assert.deepEqual(Object.keys(oauth), ['error', 'error_description']);
    for (const path of ['/v1/models', '/v1/messages', '/v1/voice/tickets', '/oauth/token']) {
      const rendered = at(path);
      assert.equal(rendered.status, status);
      assert.equal(rendered.headers['www-authenticate'], status === 401 ? 'Bearer' : undefined);
      const isLater = status === 503 || status === 504;
      assert.equal(rendered.headers['retry-after'], isLater ? '1' : undefined);
      const isFinal = status === 402 || status === 422;
      assert.equal(rendered.headers['x-should-retry'], isFinal ? 'false' : undefined);
      const isMessages = path === '/v1/messages';
      assert.equal(rendered.headers['request-id'], isMessages ? requestId : undefined);
    }
  });
}

test('there are the codes of the contract, each with its status, and no others', () => {
  const expected = Object.entries(codesByStatus).flatMap(([status, names]) =>
    names.map((name) => [name, Number(status)]),
  );
  const found = codes.map((code) => [code, problemCodes[code].status]);
  assert.deepEqual(Object.fromEntries(found), Object.fromEntries(expected));
});

test('the path of the route decides the envelope', () => {
  const expected = {
    '/v1/chat/completions': 'v1',
    '/v1/audio/speech': 'v1',
    '/v1/messages': 'messages',
    '/v1/messages/count_tokens': 'messages',
    '/v1/messagesque': 'v1',
    '/v1/voice/sessions': 'plain',
    '/api/v1/llm/responses': 'plain',
    '/api/v1/query': 'plain',
    '/api/v1/nothing': 'plain',
    '/api/me/billing/summary': 'plain',
    '/oauth/token': 'oauth',
    '/nothing': 'plain',
  };
  for (const [path, envelope] of Object.entries(expected)) assert.equal(envelopeOf(path), envelope);
});

test('a 402 names both amounts in headers, and in details where the envelope has them', () => {
  const details = { required_microcredits: 5_000_000n, available_microcredits: 3n };
  const problem = new Problem('insufficient_credits', { details });
  const { headers, body } = renderProblem('/v1/voice/x', problem, requestId);
  assert.equal(headers['x-svc-required-microcredits'], '5000000');
  assert.equal(headers['x-svc-available-microcredits'], '3');
  assert.match(JSON.stringify(body), /"required_microcredits":5000000,"available_microcredits":3/);
});

test("a problem's own headers win", () => {
  const headers = { 'retry-after': '7', 'x-ratelimit-limit-requests': '600' };
  const limited = renderProblem('/v1/models', new Problem('rate_limited', { headers }), requestId);
  assert.deepEqual(limited.headers, headers);
  const busy = new Problem('overloaded', { headers: { 'retry-after': '9' } });
  assert.equal(renderProblem('/v1/models', busy, requestId).headers['retry-after'], '9');
});

test('param is null and details are absent when no field is at fault', () => {
  const problem = new Problem('not_found');
  assert.equal(v1Error(problem).param, null);
  assert.equal('details' in plainError(problem, requestId), false);
  assert.equal(messagesError(problem, requestId).request_id, requestId);
});

test('the plain envelope names the field in its details, however the problem was made', () => {
  const named = (problem: Problem) => plainError(problem, requestId).details;
  assert.deepEqual(named(new Problem('invalid_request', { param: 'limit' })), { path: 'limit' });
  const details = { path: 'limit', expected: 3 };
  assert.deepEqual(named(new Problem('invalid_request', { param: 'limit', details })), details);
});

test('OAuth errors keep to the RFC: a named error, printable descriptions', () => {
  const details = { error: 'invalid_grant' };
  const problem = new Problem('invalid_request', { message: 'no "such\\" grant é', details });
  assert.deepEqual(renderProblem('/oauth/token', problem, requestId).body, {
    error: 'invalid_grant',
    error_description: "no 'such'' grant ?",
  });
});
