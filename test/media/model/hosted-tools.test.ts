// Every tool that the vendors publish is decided of: who runs it, and whether it needs a price. A
// new type in their packages fails here until somebody has decided.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  callsOffered,
  hostedCallsIn,
  hostedTools,
  hostedTypeOf,
  toolTypeOf,
} from '../../../media/model/hosted-tools.ts';
import type { WireFormat } from '../../../media/model/request.ts';
import { declarations, typeLiterals, unionNames } from '../../harness/published-types.ts';
import { neutralRequest } from '../../harness/request.ts';

/** `hosted`: the provider runs it and bills it. `free`: the client runs it, or tokens are all. */
type Decision = 'hosted' | 'free';

const decided: Record<WireFormat, Record<string, Decision>> = {
  chat: { custom: 'free', function: 'free' },
  responses: {
    apply_patch: 'free',
    code_interpreter: 'hosted',
    computer: 'free',
    computer_use_preview: 'free',
    custom: 'free',
    file_search: 'hosted',
    function: 'free',
    image_generation: 'hosted',
    local_shell: 'free',
    mcp: 'free',
    namespace: 'hosted',
    programmatic_tool_calling: 'hosted',
    shell: 'hosted',
    tool_search: 'free',
    web_search: 'hosted',
    web_search_2025_08_26: 'hosted',
    web_search_preview: 'hosted',
    web_search_preview_2025_03_11: 'hosted',
  },
  messages: {
    advisor_20260301: 'hosted',
    bash_20241022: 'free',
    bash_20250124: 'free',
    browser_toolset_20260801: 'free',
    code_execution_20250522: 'hosted',
    code_execution_20250825: 'hosted',
    code_execution_20260120: 'hosted',
    code_execution_20260521: 'hosted',
    computer_20241022: 'free',
    computer_20250124: 'free',
    computer_20251124: 'free',
    computer_toolset_20260801: 'free',
    custom: 'free',
    mcp_toolset: 'free',
    memory_20250818: 'free',
    text_editor_20241022: 'free',
    text_editor_20250124: 'free',
    text_editor_20250429: 'free',
    text_editor_20250728: 'free',
    tool_search_tool_bm25: 'free',
    tool_search_tool_bm25_20251119: 'free',
    tool_search_tool_regex: 'free',
    tool_search_tool_regex_20251119: 'free',
    web_fetch_20250910: 'free',
    web_fetch_20260209: 'free',
    web_fetch_20260309: 'free',
    web_fetch_20260318: 'free',
    web_search_20250305: 'hosted',
    web_search_20260209: 'hosted',
    web_search_20260318: 'hosted',
  },
};

const published: Record<WireFormat, () => string[]> = {
  chat() {
    const text = declarations('openai', 'resources/chat/completions/completions.d.ts');
    return typeLiterals(text, unionNames(text, 'ChatCompletionTool'));
  },
  responses() {
    const text = declarations('openai', 'resources/responses/responses.d.ts');
    return typeLiterals(text, unionNames(text, 'Tool'));
  },
  messages() {
    const text = declarations('@anthropic-ai/sdk', 'resources/beta/messages/messages.d.ts');
    return typeLiterals(text, unionNames(text, 'BetaToolUnion'));
  },
};

for (const format of ['chat', 'responses', 'messages'] as const) {
  test(`${format}: every published tool is decided of`, () => {
    assert.deepEqual(published[format](), Object.keys(decided[format]).sort());
    for (const [type, decision] of Object.entries(decided[format])) {
      const isHosted = hostedTypeOf(format, { type }) !== null;
      assert.equal(isHosted ? 'hosted' : 'free', decision, type);
    }
  });

  test(`${format}: a type that nobody knows is a hosted tool`, () => {
    for (const type of ['browser_search', 'Function', 'web_searcher', '', '__proto__']) {
      assert.notEqual(hostedTypeOf(format, { type }), null, type);
    }
    assert.notEqual(hostedTypeOf(format, {}), null, 'no type at all');
  });
}

test('versions of a tool are one type', () => {
  for (const type of ['code_execution_20250825', 'code_execution_20260120', 'code_execution']) {
    assert.equal(toolTypeOf(type), 'code_execution');
  }
  for (const type of [
    'web_search_preview',
    'web_search_preview_2025_03_11',
    'web_search_20250305',
  ]) {
    assert.equal(toolTypeOf(type), 'web_search');
  }
  assert.equal(toolTypeOf('text_editor_code_execution'), 'text_editor_code_execution');
});

test('a shell is hosted unless it runs where the client says', () => {
  const shell = (environment?: unknown) =>
    hostedTypeOf('responses', {
      type: 'shell',
      ...(environment === undefined ? {} : { environment }),
    });
  assert.equal(shell({ type: 'local' }), null);
  assert.equal(shell({ type: 'container_auto' }), 'shell');
  assert.equal(shell({ type: 'container_reference', container_id: 'c' }), 'shell');
  assert.equal(shell(), 'shell');
  assert.equal(
    hostedTypeOf('messages', { type: 'shell', environment: { type: 'local' } }),
    'shell',
  );
});

/** A request of Responses with these declarations and this input. */
function responsesWith(tools: Record<string, unknown>[], input: Record<string, unknown>[] = []) {
  const request = neutralRequest({
    nativeTools: tools.map((value, index) => ({
      format: 'responses' as const,
      value,
      path: `tools[${index}]`,
    })),
    messages: [
      {
        role: 'assistant',
        parts: input.map((value) => ({
          type: 'native' as const,
          format: 'responses' as const,
          value,
        })),
        toolCalls: [],
        toolCallId: null,
      },
    ],
  });
  const body = { model: 'm', input, tools, max_tool_calls: 3 };
  return { ...request, source: { ...request.source, format: 'responses' as const, body } };
}

test('declarations are found wherever a request may have them', () => {
  const request = responsesWith(
    [
      { type: 'mcp', server_label: 's' },
      { type: 'namespace', name: 'n', tools: [{ type: 'custom' }, { type: 'image_generation' }] },
    ],
    [
      { type: 'mcp_list_tools', tools: [{ name: 'roll' }] },
      { type: 'additional_tools', role: 'developer', tools: [{ type: 'file_search' }] },
      { type: 'tool_search_output', tools: [{ type: 'function' }, { type: 'shell' }] },
    ],
  );
  assert.deepEqual(
    hostedTools(request).map(({ type, path, callsMax }) => [type, path, callsMax]),
    [
      ['image_generation', 'tools[1].tools[1].type', 3],
      ['file_search', 'input[1].tools[0].type', 3],
      ['shell', 'input[2].tools[1].type', 3],
    ],
  );
});

test('a container of Messages is one, a search of Chat is one, and nothing else is', () => {
  const plain = neutralRequest({});
  const inFormat = (format: WireFormat, body: Record<string, unknown>) =>
    hostedTools({ ...plain, source: { ...plain.source, format, body } });
  assert.deepEqual(inFormat('messages', { container: 'c_1' }), [
    { type: 'code_execution', format: 'messages', path: 'container', callsMax: null },
  ]);
  assert.deepEqual(
    inFormat('chat', { web_search_options: {} }).map(({ type, path }) => [type, path]),
    [['web_search', 'web_search_options']],
  );
  for (const format of ['chat', 'responses', 'messages'] as const) {
    assert.deepEqual(inFormat(format, { model: 'm' }), []);
  }
  assert.deepEqual(inFormat('messages', { container: null }), []);
});

test('what is held for: the bound of the client, the usual where it names none, and no end', () => {
  const tool = (type: string, callsMax: number | null) => ({
    type,
    callsMax,
    format: 'responses' as const,
    path: '',
  });
  assert.deepEqual(callsOffered([tool('code_interpreter', null)]), { code_interpreter: 5 });
  assert.deepEqual(callsOffered([tool('code_interpreter', 2)]), { code_interpreter: 2 });
  assert.deepEqual(callsOffered([tool('code_interpreter', 1e9)]), { code_interpreter: 20 });
  assert.deepEqual(callsOffered([tool('a', 1), tool('a', 2)]), { a: 3 });
  assert.equal(
    callsOffered([tool('web_search', null)]),
    undefined,
    'searches have their own count',
  );
  assert.equal(callsOffered([]), undefined);
});

test('calls are counted of the tools that were offered', () => {
  const item = (value: Record<string, unknown>) => ({
    type: 'native' as const,
    format: 'responses' as const,
    value,
  });
  const items = [
    item({ type: 'code_interpreter_call' }),
    item({ type: 'code_interpreter_call' }),
    item({ type: 'custom_tool_call' }),
    item({ type: 'web_search_call' }),
    item({ type: 'server_tool_use', name: 'bash_code_execution' }),
  ];
  const offered = (type: string) => ({
    type,
    format: 'responses' as const,
    path: '',
    callsMax: null,
  });
  assert.deepEqual(hostedCallsIn({ items }, ['code_interpreter', 'web_search'].map(offered)), {
    code_interpreter: 2,
  });
  assert.deepEqual(hostedCallsIn({ items }, [offered('code_execution')]), { code_execution: 1 });
  assert.equal(hostedCallsIn({ items }, [offered('shell')]), undefined);
});
