// A coding agent has a scripted task: five calls of its own tools, one of which edits a file. Each
// result has to have a certain word. The second half reads requests of all formats.
import type { AgentName } from './agents.ts';
import type { Passed } from './tap.ts';

type Members = Record<string, unknown>;

/** One call: what a tool takes, and a word of its result. */
interface Step {
  tool: string;
  /** In which group the agent declares it: other formats know it by both names. */
  group: string | null;
  /** Arguments of a function, or the text of a custom tool. */
  given: Members | string;
  result: string;
}

export interface ScriptedTask {
  prompt: string;
  /** The words that the results have, in order. */
  results: readonly string[];
}

export const fileName = 'notes.txt';
const before = 'one word\nto be changed\n';
export const fileBefore = before;
export const fileAfter = before.replace('changed', 'kept');
export const lastWords = 'it is done';

function claudeSteps(path: string): Step[] {
  const call = (tool: string, given: Members, result: string): Step => {
    return { tool, group: null, given, result };
  };
  const description = 'Look at the folder';
  return [
    call('Bash', { command: 'ls -1', description }, fileName),
    call('Read', { file_path: path }, 'to be changed'),
    call('ToolSearch', { query: 'select:NotebookEdit' }, 'NotebookEdit'),
    call('Edit', { file_path: path, old_string: 'changed', new_string: 'kept' }, fileName),
    call('Bash', { command: `cat ${fileName}`, description }, 'to be kept'),
  ];
}

function codexSteps(): Step[] {
  const exec = (code: string, result: string): Step => {
    return { tool: 'exec', group: 'functions', given: `text(await tools.${code});`, result };
  };
  const shell = (cmd: string) => `exec_command(${JSON.stringify({ cmd })})`;
  const patch = [
    '*** Begin Patch',
    `*** Update File: ${fileName}`,
    '@@',
    ' one word',
    '-to be changed',
    '+to be kept',
    '*** End Patch',
    '',
  ].join('\n');
  return [
    exec(shell('ls -1'), fileName),
    exec(shell(`cat ${fileName}`), 'to be changed'),
    { tool: 'list_agents', group: 'collaboration', given: {}, result: '/root' },
    exec(`apply_patch(${JSON.stringify(patch)})`, 'completed'),
    exec(shell(`cat ${fileName}`), 'to be kept'),
  ];
}

/** `path`: of the file that is to be edited. */
export function taskOf(name: AgentName, path: string): ScriptedTask {
  const steps = name === 'codex' ? codexSteps() : claudeSteps(path);
  const rounds = steps.map((step) => `call=${callsOf(step).join(',')}`);
  return {
    prompt: `Do it. [[sim ${rounds.join(' ')} text=${lastWords.replaceAll(' ', '_')}]]`,
    results: steps.map(({ result }) => result),
  };
}

/** A call by either name: the simulator takes the one that was declared to it. */
function callsOf({ tool, group, given }: Step): string[] {
  const written = (name: string, value: unknown) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `${name}:${Buffer.from(text).toString('base64url')}`;
  };
  if (group === null) return [written(tool, given)];
  const flat = typeof given === 'string' ? { input: given } : given;
  return [written(tool, given), written(`${group}__${tool}`, flat)];
}

/** Requests for an answer, not those that count or look around. */
export function turnsIn(passed: readonly Passed[]): Passed[] {
  const asks = /\/(responses|messages|chat\/completions)(\?|$)|:(streamG|g)enerateContent/;
  return passed.filter(({ method, path }) => method === 'POST' && asks.test(path));
}

/** The results of tools that a provider was given back, each as text, in order. */
export function resultsIn({ path, body }: Passed): string[] {
  const said = JSON.parse(body) as Members;
  return entriesOf(said, path)
    .filter(isResult)
    .map((entry) => JSON.stringify(entry));
}

function entriesOf(said: Members, path: string): Members[] {
  if (path.includes('/chat/completions')) return listOf(said.messages);
  if (path.includes('/responses')) return listOf(said.input);
  if (path.includes('/messages')) {
    return listOf(said.messages).flatMap(({ content }) => listOf(content));
  }
  return listOf(said.contents).flatMap(({ parts }) => listOf(parts));
}

function isResult({ role, type, functionResponse }: Members): boolean {
  if (functionResponse !== undefined || role === 'tool' || type === 'tool_result') return true;
  return typeof type === 'string' && type.endsWith('_call_output');
}

function listOf(value: unknown): Members[] {
  return Array.isArray(value) ? (value as Members[]) : [];
}

/** The models that an agent asks for, each once. */
export function modelsIn(passed: readonly Passed[]): string[] {
  const models = turnsIn(passed).map(({ body }) => String((JSON.parse(body) as Members).model));
  return [...new Set(models)];
}
