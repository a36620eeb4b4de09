// The labelled prompts, read from their file, and its halves: which half a prompt is in depends on
// its own hash, so that nobody chose. The classifier is tuned on `dev` alone.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { TaskCategory } from '../../../../media/model/choose/category.ts';
import type { TaskRequest } from '../../../../media/model/choose/classify.ts';
import type { Message } from '../../../../media/model/request.ts';

export interface LabelledPrompt {
  category: TaskCategory;
  text: string;
  half: 'dev' | 'held';
  request: TaskRequest;
}

interface Extras {
  tools?: string[];
  format?: 'json_schema' | 'json_object';
  system?: string;
  /** `tool`: an assistant's tool call and its result stand before the text; `result`: it is one. */
  history?: 'tool' | 'result';
}

const source = new URL('../../../../../test/media/model/choose/prompts.txt', import.meta.url);

export function readPrompts(): LabelledPrompt[] {
  const lines = readFileSync(source, 'utf8').split('\n');
  return lines.filter((line) => line.trim() !== '').map(readLine);
}

function readLine(line: string): LabelledPrompt {
  const match = /^([a-z]+) \| (.*?)(?: \| (\{"(?:tools|format|system)".*\}))?$/.exec(line);
  if (match === null) throw new Error(`not a labelled prompt: ${line}`);
  const [, category = '', written = '', extras = '{}'] = match;
  const text = written.replaceAll('\\n', '\n').replaceAll('\\t', '\t');
  const even = (createHash('sha256').update(text).digest()[0] ?? 0) % 2 === 0;
  return {
    category: category as TaskCategory,
    text,
    half: even ? 'dev' : 'held',
    request: requestOf(text, JSON.parse(extras) as Extras),
  };
}

export function say(role: Message['role'], text: string): Message {
  return { role, parts: [{ type: 'text', text }], toolCalls: [], toolCallId: null };
}

function requestOf(text: string, extras: Extras): TaskRequest {
  const { format, system, history } = extras;
  const call = { id: 'c1', name: extras.tools?.[0] ?? 'tool', arguments: '{}' };
  const called: Message = { ...say('assistant', ''), toolCalls: [call] };
  const answered = (output: string): Message => ({ ...say('tool', output), toolCallId: 'c1' });
  const turns = {
    none: [say('user', text)],
    tool: [say('user', 'Please help me.'), called, answered('done'), say('user', text)],
    result: [say('user', 'Please help me.'), called, answered(text)],
  }[history ?? 'none'];
  return {
    messages: system === undefined ? turns : [say('system', system), ...turns],
    tools: (extras.tools ?? []).map((name) => ({ name })),
    toolChoice: null,
    outputFormat: formatOf(format),
  };
}

function formatOf(format: Extras['format']): TaskRequest['outputFormat'] {
  if (format === 'json_schema') {
    return { type: 'json_schema', name: 'answer', schema: { type: 'object' }, strict: true };
  }
  return { type: format ?? 'text' };
}
