// Custom tools for servers that know only functions: a step of fitting a request. The words of a
// client of this format are changed as well.
import { hasCustom } from '../../../model/custom-tools.ts';
import type { FunctionTool, GenerationRequest, Message } from '../../../model/request.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import { functionSchema } from '../function-schema.ts';

/** The request with functions in place of custom tools, of their calls, and of their choice. */
export function withFunctions(request: GenerationRequest): GenerationRequest {
  if (!hasCustom(request)) return request;
  const { tools, messages, source } = request;
  const isOwn = source.format === 'chat';
  return {
    ...request,
    tools: tools.map(({ custom: _custom, ...tool }) => tool),
    messages: messages.map((message): Message => {
      const { toolCalls } = message;
      if (toolCalls.length === 0) return message;
      return { ...message, toolCalls: toolCalls.map(({ custom: _custom, ...call }) => call) };
    }),
    source: isOwn ? { ...source, body: functionBody(source.body, tools), rewritten: true } : source,
  };
}

/** As a function, without what nobody set. */
export function encodeFunction(tool: FunctionTool): Members {
  const declared: Members = { name: tool.name };
  if (tool.description !== null) declared.description = tool.description;
  if (tool.parameters !== null) declared.parameters = functionSchema(tool.parameters);
  if (tool.strict !== null) declared.strict = tool.strict;
  return { type: 'function', function: declared };
}

function functionBody(body: Members, tools: readonly FunctionTool[]): Members {
  const told = { ...body };
  if (Array.isArray(body.tools)) {
    const named = new Map(tools.map((tool) => [tool.name, tool]));
    told.tools = body.tools.map((tool: unknown) => functionOf(tool, named));
  }
  if (isMembers(body.tool_choice)) told.tool_choice = choiceOf(body.tool_choice);
  return told;
}

function functionOf(tool: unknown, named: ReadonlyMap<string, FunctionTool>): unknown {
  if (!isMembers(tool) || tool.type !== 'custom' || !isMembers(tool.custom)) return tool;
  const read = named.get(String(tool.custom.name));
  // One that the client's choice leaves out.
  return read === undefined ? tool : encodeFunction(read);
}

function choiceOf(choice: Members): Members {
  const { type, custom, allowed_tools: allowed } = choice;
  if (type === 'custom') return { type: 'function', function: custom };
  if (!isMembers(allowed) || !Array.isArray(allowed.tools)) return choice;
  const tools = allowed.tools.map((tool: unknown) => (isMembers(tool) ? choiceOf(tool) : tool));
  return { ...choice, allowed_tools: { ...allowed, tools } };
}
