// Items that a provider works on by itself, and calls that only Responses has: written from the
// vendor's published types (not recorded from a provider).
import {
  type Annotation,
  type Fixture,
  fixture,
  message,
  type Piece,
  steps,
  streamedCall,
  textPart,
} from './pieces.ts';

/** Every kind that a text can have. */
export const annotations: Annotation[] = [
  { type: 'file_citation', file_id: 'file-1', filename: 'a.pdf', index: 3 },
  { type: 'url_citation', url: 'https://x.test', title: 'X', start_index: 0, end_index: 4 },
  {
    type: 'container_file_citation',
    container_id: 'cntr_1',
    file_id: 'cfile_1',
    filename: 'b.csv',
    start_index: 1,
    end_index: 2,
  },
  { type: 'file_path', file_id: 'file-2', index: 1 },
];

export const hosted: Fixture[] = [
  fixture(
    'searches of the web and of files',
    steps(
      {
        type: 'web_search_call',
        id: 'ws_1',
        status: 'completed',
        action: { type: 'search', query: 'q', queries: ['q'] },
      },
      { status: 'in_progress' },
      'web_search_call.in_progress',
      'web_search_call.searching',
      'web_search_call.completed',
    ),
    steps(
      {
        type: 'file_search_call',
        id: 'fs_1',
        status: 'completed',
        queries: ['q'],
        results: [{ file_id: 'file-1', filename: 'a.pdf', score: 0.5, text: 't' }],
      },
      { status: 'in_progress', results: null },
      'file_search_call.in_progress',
      'file_search_call.searching',
      'file_search_call.completed',
    ),
    message('msg_1', [textPart('Found.', { annotations })]),
  ),
  fixture(
    'code that is run, and a file of it',
    streamedCall(
      {
        type: 'code_interpreter_call',
        id: 'ci_1',
        status: 'completed',
        code: 'print(1)\n',
        container_id: 'cntr_1',
        outputs: [{ type: 'logs', logs: '1\n' }],
      },
      'code',
      'response.code_interpreter_call_code',
      {
        before: ['response.code_interpreter_call.in_progress'],
        after: [
          'response.code_interpreter_call.interpreting',
          'response.code_interpreter_call.completed',
        ],
        begun: { status: 'in_progress', outputs: null },
      },
    ),
    message('msg_1', [textPart('One.', { annotations: annotations.slice(2, 3) })]),
  ),
  fixture('an image that appears bit by bit', {
    begun: { status: 'in_progress', result: null } as Piece['begun'],
    item: {
      type: 'image_generation_call',
      id: 'ig_1',
      status: 'completed',
      result: 'aW1hZ2U=',
      revised_prompt: 'a cat',
      output_format: 'png',
    },
    told: (place) => [
      { type: 'response.image_generation_call.in_progress', ...place },
      { type: 'response.image_generation_call.generating', ...place },
      {
        type: 'response.image_generation_call.partial_image',
        ...place,
        partial_image_index: 0,
        partial_image_b64: 'aW0=',
        output_format: 'png',
      },
      { type: 'response.image_generation_call.completed', ...place },
    ],
  }),
  fixture(
    'servers of the model context protocol: their tools, calls, and what asks for approval',
    steps(
      {
        type: 'mcp_list_tools',
        id: 'mcpl_1',
        server_label: 's',
        tools: [{ name: 'roll', input_schema: { type: 'object' }, description: 'd' }],
      },
      { tools: [] },
      'mcp_list_tools.in_progress',
      'mcp_list_tools.completed',
    ),
    streamedCall(
      {
        type: 'mcp_call',
        id: 'mcp_1',
        server_label: 's',
        name: 'roll',
        arguments: '{"sides":6}',
        output: '4',
        error: null,
        approval_request_id: null,
        status: 'completed',
      },
      'arguments',
      'response.mcp_call_arguments',
      {
        before: ['response.mcp_call.in_progress'],
        after: ['response.mcp_call.completed'],
        begun: { output: null, status: 'in_progress' },
      },
    ),
    steps(
      {
        type: 'mcp_call',
        id: 'mcp_2',
        server_label: 's',
        name: 'roll',
        arguments: '{}',
        error: { type: 'http_error', code: 500, message: 'm' },
        status: 'failed',
      },
      { status: 'in_progress' },
      'mcp_call.in_progress',
      'mcp_call.failed',
    ),
    steps(
      {
        type: 'mcp_approval_request',
        id: 'mcpr_1',
        server_label: 's',
        name: 'roll',
        arguments: '{}',
      },
      {},
    ),
  ),
  fixture(
    'a shell, a program, and a compaction',
    {
      begun: { status: 'in_progress' } as Piece['begun'],
      item: {
        type: 'shell_call',
        id: 'sh_1',
        call_id: 'call_1',
        status: 'completed',
        environment: null,
        action: { commands: ['ls -l'], max_output_length: null, timeout_ms: null },
      },
      told: ({ output_index }) => {
        const at = { output_index, command_index: 0 };
        return [
          { type: 'response.shell_call_command.added', ...at, command: '' },
          { type: 'response.shell_call_command.delta', ...at, delta: 'ls ', obfuscation: 'x' },
          { type: 'response.shell_call_command.delta', ...at, delta: '-l', obfuscation: 'xy' },
          { type: 'response.shell_call_command.done', ...at, command: 'ls -l' },
        ];
      },
    },
    steps({ type: 'program', id: 'pr_1', call_id: 'call_2', code: 'x', fingerprint: 'f' }, {
      code: '',
    } as Piece['begun']),
    steps({ type: 'compaction', id: 'cmp_1', encrypted_content: 'e' }, {}, 'compaction.compacting'),
  ),
];

const completed = { status: 'completed' } as const;
const called = { ...completed, call_id: 'call_1' } as const;
const shellOutput = {
  stdout: 'a\n',
  stderr: '',
  outcome: { type: 'exit' as const, exit_code: 0 },
};

export const others: Fixture[] = [
  fixture(
    'calls to the computer and to its tools, with their results',
    steps(
      {
        ...called,
        type: 'computer_call',
        id: 'cu_1',
        action: { type: 'click', button: 'left', x: 1, y: 2 },
        pending_safety_checks: [],
      },
      { status: 'in_progress' },
    ),
    steps({ ...called, type: 'local_shell_call', id: 'lsh_1', action: shellAction() }, {}),
    steps(
      {
        ...called,
        type: 'apply_patch_call',
        id: 'apc_1',
        operation: { type: 'delete_file', path: 'a' },
      },
      { status: 'in_progress' },
    ),
    steps(
      {
        ...called,
        type: 'tool_search_call',
        id: 'tsc_1',
        execution: 'server',
        arguments: { query: 'q' },
      },
      {},
    ),
    steps(
      { ...called, type: 'tool_search_output', id: 'tso_1', execution: 'server', tools: [] },
      {},
    ),
    {
      begun: { status: 'in_progress', output: [] } as Piece['begun'],
      item: {
        ...called,
        type: 'shell_call_output',
        id: 'sho_1',
        output: [shellOutput],
        max_output_length: null,
      },
      told: (place) => {
        const at = { ...place, command_index: 0 };
        const type = 'response.shell_call_output_content';
        return [
          { type: `${type}.delta`, ...at, delta: { stdout: 'a\n' } },
          { type: `${type}.done`, ...at, output: [shellOutput] },
        ];
      },
    },
    steps({ type: 'program_output', id: 'po_1', call_id: 'call_2', result: 'r', ...completed }, {}),
  ),
  fixture(
    'tools of a server that could not be listed',
    steps(
      { type: 'mcp_list_tools', id: 'mcpl_1', server_label: 's', tools: [], error: 'e' },
      {},
      'mcp_list_tools.in_progress',
      'mcp_list_tools.failed',
    ),
  ),
];

function shellAction() {
  return { type: 'exec' as const, command: ['ls'], env: {}, timeout_ms: null };
}
