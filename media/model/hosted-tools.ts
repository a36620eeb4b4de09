// Tools that a provider runs itself and bills beside the tokens of an answer. One passes only where
// the model's card has a price for it. An unknown type is taken for one: nobody knows its price.
import type { Answer } from './answer.ts';
import { partPath } from './media-path.ts';
import type { ContentPart, GenerationRequest, WireFormat } from './request.ts';
import { asksChatSearch, searchesMax } from './search-tools.ts';
import type { ToolCalls } from './usage.ts';

type Members = Record<string, unknown>;

/** The type of every version of a provider's web search, which has a price of its own. */
export const searchType = 'web_search';

/** A hosted tool that a request offers to the model. */
export interface HostedTool {
  /** Without its version. */
  type: string;
  format: WireFormat;
  /** Where the request declares it, as in `tools[2].type`. */
  path: string;
  /** The most calls that the client allows; null: it did not say. */
  callsMax: number | null;
}

/** A type without what changes from version to version: `code_execution_20250825`. */
export function toolTypeOf(type: string): string {
  return type.replace(/(_preview)?(_\d{8}|_\d{4}_\d{2}_\d{2})?$/, '');
}

/**
 * Types that cost nothing beside tokens: the client runs them, or the provider does for free. The
 * reason stands beside each.
 */
const freeTypes: Readonly<Record<WireFormat, ReadonlySet<string>>> = {
  chat: new Set([
    // The client runs them.
    'function',
    'custom',
    // The server that it names runs it, at its own expense.
    'mcp',
  ]),
  responses: new Set([
    // The client runs them.
    'function',
    'custom',
    'local_shell',
    'apply_patch',
    'computer',
    'computer_use',
    // The server that it names runs it, at its own expense.
    'mcp',
    // The provider chooses among the declared tools: tokens alone.
    'tool_search',
  ]),
  messages: new Set([
    // The client runs them.
    'custom',
    'bash',
    'text_editor',
    'computer',
    'computer_toolset',
    'browser_toolset',
    'memory',
    // The server that it names runs it, at its own expense.
    'mcp_toolset',
    // The provider runs them for the tokens of what they find.
    'tool_search_tool',
    'tool_search_tool_bm25',
    'tool_search_tool_regex',
    'web_fetch',
  ]),
};

/** Tools that hold others: they are what is in them. */
const holdingTypes: ReadonlySet<unknown> = new Set(['namespace']);

/** The type of a declared tool if it is hosted; null: it costs nothing beside tokens. */
export function hostedTypeOf(format: WireFormat, tool: Members): string | null {
  const declared = typeof tool.type === 'string' ? tool.type : '';
  const type = toolTypeOf(declared);
  if (freeTypes[format].has(type)) return null;
  // In an environment of the client's own the client runs it.
  if (format === 'responses' && type === 'shell' && isLocal(tool.environment)) return null;
  return type;
}

function isLocal(environment: unknown): boolean {
  return (Object(environment) as Members).type === 'local';
}

const none: readonly HostedTool[] = [];

/** Every hosted tool that the request offers, wherever it is declared, in order. */
export function hostedTools(request: GenerationRequest): readonly HostedTool[] {
  const { nativeTools, source, messages } = request;
  const found: HostedTool[] = [];
  for (const { format, value, path } of nativeTools) {
    const callsMax = format === 'responses' ? source.body.max_tool_calls : value.max_uses;
    addHosted(found, format, value, path, boundOf(callsMax));
  }
  if (asksChatSearch(request)) {
    found.push({ type: searchType, format: 'chat', path: 'web_search_options', callsMax: 1 });
  }
  if (source.format === 'messages') addContainer(found, source.body);
  if (source.format === 'responses') {
    addNotAllowed(found, request);
    const bound = boundOf(source.body.max_tool_calls);
    for (const { parts } of messages) {
      for (const part of parts)
        if (part.type === 'native') addDeclared(found, request, part, bound);
    }
  }
  return found.length === 0 ? none : found;
}

/**
 * Tools that a list of allowed ones leaves out: the provider is told of them all the same, and may
 * not keep to the list. None of their calls is held for.
 */
function addNotAllowed(found: HostedTool[], { nativeTools, source }: GenerationRequest): void {
  const { tools } = source.body;
  if (!Array.isArray(tools)) return;
  const allowed = new Set<unknown>(nativeTools.map(({ value }) => value));
  for (const [index, tool] of tools.entries()) {
    if (!allowed.has(tool)) addHosted(found, 'responses', Object(tool), `tools[${index}]`, 0);
  }
}

/** Items of Responses may declare tools as well: `additional_tools`, `tool_search_output`. */
function addDeclared(
  found: HostedTool[],
  request: GenerationRequest,
  part: ContentPart & { type: 'native' },
  callsMax: number | null,
): void {
  const { type, tools } = part.value;
  // What an MCP server has is listed, not declared.
  if (!Array.isArray(tools) || type === 'mcp_list_tools') return;
  const path = partPath(request, part);
  for (const [index, tool] of tools.entries()) {
    addHosted(found, 'responses', Object(tool), `${path}.tools[${index}]`, callsMax);
  }
}

/** A container is where Messages runs code; without the tool it is kept, and may be billed. */
function addContainer(found: HostedTool[], { container }: Members): void {
  if ((container ?? null) === null || found.some(({ type }) => type === 'code_execution')) return;
  found.push({ type: 'code_execution', format: 'messages', path: 'container', callsMax: null });
}

function addHosted(
  found: HostedTool[],
  format: WireFormat,
  tool: Members,
  path: string,
  callsMax: number | null,
): void {
  if (holdingTypes.has(tool.type) && Array.isArray(tool.tools)) {
    for (const [index, inner] of tool.tools.entries()) {
      addHosted(found, format, Object(inner), `${path}.tools[${index}]`, callsMax);
    }
    return;
  }
  const type = hostedTypeOf(format, tool);
  if (type !== null) found.push({ type, format, path: `${path}.type`, callsMax });
}

function boundOf(value: unknown): number | null {
  return Number.isSafeInteger(value) ? Math.max(0, Number(value)) : null;
}

/**
 * The calls of offered tools that an answer shows, by type. Searches are counted by what came of
 * them. Undefined: none.
 */
export function hostedCallsIn(
  { items }: Pick<Answer, 'items'>,
  offered: readonly HostedTool[],
): ToolCalls | undefined {
  let calls: Record<string, number> | undefined;
  for (const item of items) {
    const type = item.type === 'native' ? callTypeOf(item.value) : null;
    if (type === null || type === searchType) continue;
    if (!offered.some((tool) => tool.type === type)) continue;
    calls ??= {};
    calls[type] = (calls[type] ?? 0) + 1;
  }
  return calls;
}

/** The tool that an item of Responses or a block of Messages calls; null: it is no call. */
function callTypeOf({ type, name }: Members): string | null {
  if (typeof type !== 'string') return null;
  if (type === 'server_tool_use') return typeof name === 'string' ? runnerOf(name) : null;
  return type.endsWith('_call') ? type.slice(0, -'_call'.length) : null;
}

/** Messages' code execution shows under the names of what it does. */
function runnerOf(name: string): string {
  return /^(bash|text_editor)_code_execution$/.test(name) ? 'code_execution' : name;
}

/** The calls that are held for where the client names no bound. */
const callsUsual = 5;
/** A bound that is far above what a provider does keeps nobody's credits from other requests. */
const callsHeldMax = 20;

/** How many searches of a provider's own a hold has to cover. */
export function searchesOffered(offered: readonly HostedTool[]): number {
  return offered.reduce((sum, { type, callsMax }) => {
    return type === searchType ? Math.min(callsHeldMax, sum + (callsMax ?? searchesMax)) : sum;
  }, 0);
}

/** How many calls of each tool a hold has to cover, searches left out. */
export function callsOffered(offered: readonly HostedTool[]): ToolCalls | undefined {
  let calls: Record<string, number> | undefined;
  for (const { type, callsMax } of offered) {
    if (type === searchType) continue;
    calls ??= {};
    calls[type] = Math.min(callsHeldMax, (calls[type] ?? 0) + (callsMax ?? callsUsual));
  }
  return calls;
}
