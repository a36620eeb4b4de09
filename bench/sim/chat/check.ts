// What the real Chat Completions API refuses and clients get wrong: tool calls and their results
// have to stand directly behind each other, and files need names that end as their kind does.
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

/** Of the file parts of a message. */
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

const stopSequencesMax = 4;

export function stopRefusal({ stop }: Members): ChatError | null {
  if (!Array.isArray(stop) || stop.length <= stopSequencesMax) return null;
  const rule = `Expected an array with maximum length ${stopSequencesMax}`;
  return invalidRequest(`Invalid 'stop': array too long. ${rule}, got ${stop.length}.`, 'stop');
}
