// What the real Responses API refuses and clients get wrong: calls without results, results without
// calls, reasoning that was changed or stands alone, files without a kind, the older API's members.
import { fileRefusal, functionRefusal, tooLong } from '../chat/check.ts';
import type { ChatError } from '../chat/failure.ts';
import { isMembers, type Members, membersOf } from '../members.ts';
import {
  badInput,
  belowMinimum,
  missingParameter,
  unknownParameter,
  unknownResponse,
} from './failure.ts';
import { isSealed } from './seal.ts';

const outputTokensMin = 16;
const roles: readonly unknown[] = ['user', 'assistant', 'system', 'developer'];
const chatParameters = ['messages', 'max_tokens', 'max_completion_tokens', 'response_format'];

/** Null: the API would take it. */
export function refusalOf(body: Members, items: readonly Members[]): ChatError | null {
  const { input, previous_response_id: previous, max_output_tokens: limit } = body;
  const foreign = chatParameters.find((name) => name in body);
  if (foreign !== undefined) return unknownParameter(foreign);
  const options = isMembers(body.stream_options) ? body.stream_options : {};
  if ('include_usage' in options) return unknownParameter('stream_options.include_usage');
  if (typeof previous === 'string') return unknownResponse(previous);
  if (input === undefined || input === null) return missingParameter('input');
  if (typeof input !== 'string' && !Array.isArray(input)) {
    return badInput("Invalid type for 'input': expected one of a string or array.");
  }
  if (typeof limit === 'number' && limit < outputTokensMin) {
    return belowMinimum('max_output_tokens', outputTokensMin, limit);
  }
  return (
    toolsRefusal(body) ??
    itemsRefusal(items) ??
    filesRefusal(items) ??
    pairsRefusal(items) ??
    reasoningRefusal(items) ??
    formatRefusal(body, items)
  );
}

function toolsRefusal(body: Members): ChatError | null {
  const tools = Array.isArray(body.tools) ? body.tools : [];
  for (const [index, tool] of tools.entries()) {
    const where = `tools[${index}]`;
    if (!isMembers(tool) || typeof tool.type !== 'string') return missingParameter(`${where}.type`);
    if (tool.type !== 'function') continue;
    // Chat nests these members in `function`; here they are flat.
    if (typeof tool.name !== 'string') return missingParameter(`${where}.name`);
    const refusal = functionRefusal(tool, where);
    if (refusal !== null) return refusal;
  }
  return null;
}

const idLengthMax = 64;

function itemsRefusal(items: readonly Members[]): ChatError | null {
  for (const [index, item] of items.entries()) {
    const { type, role, content } = item;
    const { length } = String(item.call_id ?? '');
    if (length > idLengthMax) return tooLong(`input[${index}].call_id`, idLengthMax, length);
    if (type !== undefined && type !== 'message') continue;
    if (!roles.includes(role)) return badInput(`Invalid value for 'input[${index}].role'.`);
    const parts = Array.isArray(content) ? content : [];
    for (const [at, part] of parts.entries()) {
      const kind = isMembers(part) ? String(part.type) : '';
      const fits = role === 'assistant' ? /^(output_text|refusal)$/ : /^input_/;
      if (fits.test(kind)) continue;
      const error = badInput(
        `Invalid value: '${kind}'. Supported values are: ${fits.source} for role '${role}'.`,
      );
      return { ...error, param: `input[${index}].content[${at}]`, code: 'invalid_value' };
    }
  }
  return null;
}

function filesRefusal(items: readonly Members[]): ChatError | null {
  const parts = items.flatMap(({ content, output }) => membersOf(content ?? output));
  const files = parts.filter(({ type }) => type === 'input_file');
  return files.map(fileRefusal).find((refusal) => refusal !== null) ?? null;
}

function pairsRefusal(items: readonly Members[]): ChatError | null {
  const isCall = ({ type }: Members) => /^(function|custom_tool)_call$/.test(String(type));
  const isResult = ({ type }: Members) => /^(function|custom_tool)_call_output$/.test(String(type));
  const called = items.filter(isCall).map((item) => item.call_id);
  const answered = items.filter(isResult).map((item) => item.call_id);
  const orphan = answered.find((id) => !called.includes(id));
  if (orphan !== undefined) {
    return badInput(`No tool call found for function call output with call_id ${orphan}.`);
  }
  const open = called.find((id) => !answered.includes(id));
  return open === undefined ? null : badInput(`No tool output found for function call ${open}.`);
}

function reasoningRefusal(items: readonly Members[]): ChatError | null {
  for (const [index, item] of items.entries()) {
    if (item.type !== 'reasoning') continue;
    const content = item.encrypted_content;
    if (typeof content === 'string' && !isSealed(content)) {
      const excerpt = `${content.slice(0, 4)}...${content.slice(-4)}`;
      const error = badInput(`The encrypted content ${excerpt} could not be verified.`);
      return { ...error, param: null, code: 'invalid_encrypted_content' };
    }
    const next = items[index + 1];
    if (next === undefined || (next.role !== undefined && next.role !== 'assistant')) {
      const rule = 'was provided without its required following item.';
      return badInput(`Item '${item.id}' of type 'reasoning' ${rule}`);
    }
  }
  return null;
}

/** What the instructions say does not count. */
function formatRefusal({ text }: Members, items: readonly Members[]): ChatError | null {
  const format = isMembers(text) && isMembers(text.format) ? text.format : {};
  if (format.type !== 'json_object' || /json/i.test(JSON.stringify(items))) return null;
  const rule =
    "must contain the word 'json' in some form to use 'text.format' of type 'json_object'.";
  return badInput(`Response input messages ${rule}`);
}
