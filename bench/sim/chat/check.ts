// What the real Chat Completions API refuses and clients get wrong: tool calls and their results
// have to stand directly behind each other, and files need names that end as their kind does.
import { pythonFault } from '../functions.ts';
import { isMembers, type Members, membersOf } from '../members.ts';
import { type ChatError, invalidRequest } from './failure.ts';

/** Null: every call has its result at once, and every result its call. */
export function pairsRefusal(messages: readonly Members[]): ChatError | null {
  let open: unknown[] = [];
  for (const [at, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!open.includes(message.tool_call_id)) return orphan(at);
      open = open.filter((id) => id !== message.tool_call_id);
      continue;
    }
    if (open.length > 0) return unanswered(open);
    if (message.role === 'assistant') open = membersOf(message.tool_calls).map(({ id }) => id);
  }
  return open.length > 0 ? unanswered(open) : null;
}

function orphan(at: number): ChatError {
  const rule = "messages with role 'tool' must be a response to a preceding message";
  return invalidRequest(`Invalid parameter: ${rule} with 'tool_calls'.`, `messages.[${at}].role`);
}

function unanswered(ids: readonly unknown[]): ChatError {
  const rule = "must be followed by tool messages responding to each 'tool_call_id'";
  const missing = `The following tool_call_ids did not have response messages: ${ids.join(', ')}`;
  const message = `An assistant message with 'tool_calls' ${rule}. ${missing}`;
  return invalidRequest(message, 'messages');
}

/** Looks at the file parts of messages. */
export function filesRefusal(messages: readonly Members[]): ChatError | null {
  const parts = messages.flatMap(({ content }) => membersOf(content));
  const files = parts.map((part) => part.file).filter(isMembers);
  return files.map(fileRefusal).find((refusal) => refusal !== null) ?? null;
}

/** The kind of a file is told by its name, whatever the data URL says. */
export function fileRefusal({ file_data: data, filename }: Members): ChatError | null {
  if (typeof data !== 'string') return null;
  const [, ending] = /\.([^.]+)$/.exec(String(filename ?? '')) ?? [];
  const known = [
    '.csv',
    '.docx',
    '.html',
    '.json',
    '.md',
    '.pdf',
    '.pptx',
    '.txt',
    '.xlsx',
    '.xml',
  ];
  if (ending !== undefined && known.includes(`.${ending.toLowerCase()}`)) return null;
  const rule = `Expected context stuffing file type to be a supported format: ${known.join(', ')}`;
  const got = ending === undefined ? 'none' : `.${ending}`;
  return invalidRequest(`Invalid input: ${rule} but got ${got}.`, null);
}

const nameLengthMax = 64;

/** Looks at a function's declaration; `where` has its name and its parameters. */
export function functionRefusal({ name, parameters }: Members, where: string): ChatError | null {
  const text = String(name);
  if (!/^[a-zA-Z0-9_-]+$/.test(text)) {
    const rule = "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.";
    const message = `Invalid '${where}.name': string does not match pattern. ${rule}`;
    return { ...invalidRequest(message, `${where}.name`), code: 'invalid_value' };
  }
  if (text.length > nameLengthMax) {
    return tooLong(`${where}.name`, nameLengthMax, text.length);
  }
  const fault = pythonFault(parameters);
  if (fault === null) return null;
  const message = `Invalid schema for function '${text}': ${fault}`;
  const error = invalidRequest(message, `${where}.parameters`);
  return { ...error, code: 'invalid_function_parameters' };
}

export function tooLong(where: string, most: number, length: number): ChatError {
  const rule = `Expected a string with maximum length ${most}`;
  const got = `but got a string with length ${length} instead.`;
  const message = `Invalid '${where}': string too long. ${rule}, ${got}`;
  return { ...invalidRequest(message, where), code: 'string_above_max_length' };
}

export function toolsRefusal({ tools }: Members): ChatError | null {
  for (const [index, tool] of membersOf(tools).entries()) {
    const declared = isMembers(tool.function) ? tool.function : null;
    const refusal =
      declared === null ? null : functionRefusal(declared, `tools[${index}].function`);
    if (refusal !== null) return refusal;
  }
  return null;
}

const idLengthMax = 64;

/** Looks at the calls of the history. */
export function callIdsRefusal(messages: readonly Members[]): ChatError | null {
  for (const [at, message] of messages.entries()) {
    for (const [index, { id }] of membersOf(message.tool_calls).entries()) {
      const { length } = String(id);
      if (length <= idLengthMax) continue;
      return tooLong(`messages[${at}].tool_calls[${index}].id`, idLengthMax, length);
    }
  }
  return null;
}

const stopSequencesMax = 4;

export function stopRefusal({ stop }: Members): ChatError | null {
  if (!Array.isArray(stop) || stop.length <= stopSequencesMax) return null;
  const rule = `Expected an array with maximum length ${stopSequencesMax}`;
  return invalidRequest(`Invalid 'stop': array too long. ${rule}, got ${stop.length}.`, 'stop');
}
