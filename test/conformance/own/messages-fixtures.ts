// Answers of a Messages provider with everything that only this format has: written from the
// vendor's published types, which the compiler holds them to (not recorded from a provider).
import type Anthropic from '@anthropic-ai/sdk';
import { hostedMessages } from './messages-hosted.ts';
import { direct, fixture, type MessagesFixture, text, webLocation } from './messages-pieces.ts';

const charLocation: Anthropic.Beta.BetaTextCitation = {
  type: 'char_location',
  cited_text: 'the grass',
  document_index: 0,
  document_title: 'A document',
  start_char_index: 0,
  end_char_index: 9,
  file_id: null,
};
const resultLocation: Anthropic.Beta.BetaTextCitation = {
  type: 'search_result_location',
  cited_text: 'c',
  source: 'https://kb.test/1',
  title: null,
  search_result_index: 0,
  start_block_index: 0,
  end_block_index: 1,
};

const code = { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' } as const;

const texts: MessagesFixture[] = [
  fixture('text in blocks with citations and without, side by side', [
    text('I read it. '),
    text('The grass is green', [charLocation]),
    text(' and '),
    text('the sky is blue', [webLocation, resultLocation]),
    text('.'),
    text(' That is all.'),
  ]),
  fixture('a stop sequence', [text('one, two')], {
    stop_reason: 'stop_sequence',
    stop_sequence: 'three',
  }),
  fixture('a refusal with its category', [text('I ')], {
    stop_reason: 'refusal',
    stop_details: {
      type: 'refusal',
      category: 'cyber',
      explanation: 'e',
      fallback_credit_token: null,
      fallback_has_prefill_claim: null,
      recommended_model: null,
    },
  }),
];

const thoughts: MessagesFixture[] = [
  fixture(
    'thinking, shown, hidden and redacted, between calls of tools',
    [
      { type: 'thinking', thinking: 'First I look.', signature: 'c2lnMQ==' },
      { type: 'thinking', thinking: '', signature: 'c2lnMg==' },
      { type: 'redacted_thinking', data: 'ZGF0YQ==' },
      text('I look.'),
      { type: 'tool_use', id: 'toolu_1', name: 'find', input: { a: [1] }, caller: direct },
      { type: 'thinking', thinking: 'And again.', signature: 'c2lnMw==' },
      { type: 'tool_use', id: 'toolu_2', name: 'find', input: {}, caller: direct },
    ],
    { stop_reason: 'tool_use', usage: { output_tokens_details: { thinking_tokens: 4 } } },
  ),
];

const calls: MessagesFixture[] = [
  fixture(
    'calls that a program makes, and calls of a toolset',
    [
      {
        type: 'server_tool_use',
        id: 'srvtoolu_1',
        name: 'code_execution',
        input: { code: 'await find({"a": 1})' },
        caller: direct,
      },
      { type: 'tool_use', id: 'toolu_1', name: 'find', input: { a: 1 }, caller: code },
      {
        type: 'tool_use',
        id: 'toolu_2',
        name: 'left_click',
        input: { coordinate: [1, 2] },
        caller: direct,
        toolset_name: 'computer',
      },
    ],
    {
      stop_reason: 'tool_use',
      container: { id: 'container_1', expires_at: '2026-11-22T00:00:00Z', skills: null },
    },
  ),
];

const contexts: MessagesFixture[] = [
  fixture(
    'a compaction that ends the turn',
    [{ type: 'compaction', content: 'So far: nothing.', encrypted_content: 'ZW5j' }],
    { stop_reason: 'compaction' },
  ),
  fixture(
    'a compaction, then the answer, with the tokens of both',
    [
      { type: 'compaction', content: 'So far: nothing.', encrypted_content: 'ZW5j' },
      text('Go on.'),
    ],
    {
      usage: {
        iterations: [
          { type: 'compaction', ...iteration(100, 20) },
          { type: 'message', ...iteration(11, 9), model: null },
        ],
      },
    },
  ),
  fixture('a context that was cut, and why the cache missed it', [text('Yes.')], {
    context_management: {
      applied_edits: [
        {
          type: 'clear_tool_uses_20250919',
          cleared_input_tokens: 500,
          cleared_tool_uses: 2,
        },
      ],
    },
    diagnostics: {
      cache_miss_reason: { type: 'tools_changed', cache_missed_input_tokens: 10 },
    },
    input_transformations: [
      {
        type: 'thinking_dropped',
        path: 'messages.1.content.0',
        reason: 'prefix_binding_mismatch',
      },
    ],
  }),
];

function iteration(input_tokens: number, output_tokens: number) {
  return {
    input_tokens,
    output_tokens,
    cache_creation: null,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  };
}

export const messagesFixtures: readonly MessagesFixture[] = [
  ...texts,
  ...thoughts,
  ...calls,
  ...hostedMessages,
  ...contexts,
];
