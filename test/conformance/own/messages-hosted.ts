// Answers in which a Messages provider works by itself: written from the vendor's published types.
import {
  type Block,
  direct,
  fixture,
  type MessagesFixture,
  text,
  webLocation,
} from './messages-pieces.ts';

export const hostedMessages: MessagesFixture[] = [
  fixture(
    'searches and fetches of the web, with citations',
    [
      text("I'll search."),
      {
        type: 'server_tool_use',
        id: 'srvtoolu_1',
        name: 'web_search',
        input: { query: 'why is the sky blue' },
        caller: direct,
      },
      {
        type: 'web_search_tool_result',
        tool_use_id: 'srvtoolu_1',
        caller: direct,
        content: [
          {
            type: 'web_search_result',
            url: 'https://sky.test/',
            title: 'Sky',
            encrypted_content: 'ZW5j',
            page_age: null,
          },
        ],
      },
      {
        type: 'server_tool_use',
        id: 'srvtoolu_2',
        name: 'web_fetch',
        input: { url: 'https://sky.test/' },
        caller: direct,
      },
      {
        type: 'web_fetch_tool_result',
        tool_use_id: 'srvtoolu_2',
        caller: direct,
        content: { type: 'web_fetch_tool_result_error', error_code: 'unavailable' },
      },
      text('It is blue', [webLocation]),
      text('.'),
    ],
    {
      stop_reason: 'pause_turn',
      usage: { server_tool_use: { web_search_requests: 1, web_fetch_requests: 1 } },
    },
  ),
  fixture(
    'code, files, and servers of the model context protocol',
    [
      {
        type: 'server_tool_use',
        id: 'srvtoolu_1',
        name: 'bash_code_execution',
        input: { command: 'ls' },
        caller: direct,
      },
      {
        type: 'bash_code_execution_tool_result',
        tool_use_id: 'srvtoolu_1',
        content: {
          type: 'bash_code_execution_result',
          stdout: 'a\n',
          stderr: '',
          return_code: 0,
          content: [],
        },
      },
      { type: 'container_upload', file_id: 'file_1' },
      {
        type: 'mcp_tool_listing',
        mcp_server_name: 's',
        tools: [{ name: 'roll', input_schema: { type: 'object' } }],
      } as unknown as Block,
      {
        type: 'mcp_tool_use',
        id: 'mcptoolu_1',
        name: 'roll',
        server_name: 's',
        input: { sides: 6 },
      },
      {
        type: 'mcp_tool_result',
        tool_use_id: 'mcptoolu_1',
        is_error: false,
        content: [{ type: 'text', text: '4', citations: null }],
      },
      {
        type: 'server_tool_use',
        id: 'srvtoolu_2',
        name: 'tool_search_tool_bm25',
        input: { query: 'q' },
        caller: direct,
      },
      {
        type: 'tool_search_tool_result',
        tool_use_id: 'srvtoolu_2',
        content: {
          type: 'tool_search_tool_search_result',
          tool_references: [{ type: 'tool_reference', tool_name: 'find' }],
        },
      },
      text('Four.'),
    ],
    {
      container: {
        id: 'container_1',
        expires_at: '2026-11-22T00:00:00Z',
        skills: [{ skill_id: 'pptx', type: 'anthropic', version: 'latest' }],
      },
    },
  ),
];
