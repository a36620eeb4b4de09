// Coding agents of the vendors as their users run them, in folders of their own. They stand in the
// folder that the runner was given, or are installed from the registry, which takes its time.
import { execFile, spawn } from 'node:child_process';
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const INSTALL_MS = 300_000;
const RUN_MS = 90_000;
const OUTPUT_MAX = 200_000;

export const packages = {
  codex: '@openai/codex',
  claude: '@anthropic-ai/claude-code',
} as const;
export type AgentName = keyof typeof packages;
export const agentNames = Object.keys(packages) as AgentName[];

export interface Agents {
  /** Null: ready; else why they cannot run here. */
  missing: string | null;
  pathOf(name: AgentName): string;
  versionOf(name: AgentName): Promise<string>;
  remove(): Promise<void>;
}

/** The agents, from TOLLGATE_LONG_AGENTS or freshly installed. Never rejects. */
export async function findAgents(): Promise<Agents> {
  const given = process.env.TOLLGATE_LONG_AGENTS ?? '';
  const folder = given === '' ? await mkdtemp(join(tmpdir(), 'tollgate-agents-')) : given;
  const pathOf = (name: AgentName) => join(folder, 'node_modules', '.bin', name);
  const versionOf = async (name: AgentName) => {
    const path = join(folder, 'node_modules', packages[name], 'package.json');
    return (JSON.parse(await readFile(path, 'utf8')) as { version: string }).version;
  };
  const remove = async () => {
    if (given === '') await rm(folder, { recursive: true, force: true });
  };
  let missing: string | null = null;
  try {
    if (given === '') await install(folder);
    for (const name of agentNames) await access(pathOf(name));
  } catch (error) {
    missing = `the agents are not here: ${String(error).split('\n', 1)[0]}`;
  }
  return { missing, pathOf, versionOf, remove };
}

/**
 * Without the tag npm takes an older version whose `engines` fit, though the program is a binary.
 * Our own `.npmrc` forbids the scripts that put such a binary in its place.
 */
async function install(folder: string): Promise<void> {
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  const names = Object.values(packages).map((name) => `${name}@latest`);
  const flags = ['--no-audit', '--no-fund', '--no-save', '--ignore-scripts=false'];
  await promisify(execFile)('npm', ['install', ...flags, ...names], {
    cwd: folder,
    timeout: INSTALL_MS,
  });
}

export interface Task {
  /** Where the agent finds its models, and with which key. */
  url: string;
  key: string;
  prompt: string;
  /** Where the agent works. */
  folder: string;
}

export interface Done {
  code: number | null;
  output: string;
  durationMs: number;
}

/**
 * One unattended run of an agent, with the model that it chooses itself. Never rejects; `code`
 * null: it had to be killed.
 */
export async function runAgent(name: AgentName, path: string, task: Task): Promise<Done> {
  const home = join(task.folder, '..', 'home');
  await mkdir(home, { recursive: true });
  const { url, key, prompt } = task;
  const shared = { PATH: process.env.PATH ?? '', HOME: home };
  if (name === 'codex') {
    const provider =
      `{name="gateway",base_url="${url}/v1",env_key="GATEWAY_KEY",` +
      'wire_api="responses",request_max_retries=0,stream_max_retries=0}';
    const settings = [
      'model_provider=gateway',
      `model_providers.gateway=${provider}`,
      'check_for_update_on_startup=false',
      'analytics.enabled=false',
    ];
    return await runFor(
      path,
      [
        'exec',
        '--json',
        '--skip-git-repo-check',
        '--dangerously-bypass-approvals-and-sandbox',
        ...settings.flatMap((setting) => ['-c', setting]),
        prompt,
      ],
      { ...shared, CODEX_HOME: home, GATEWAY_KEY: key },
      task.folder,
    );
  }
  const flags = ['--dangerously-skip-permissions', '--output-format', 'stream-json', '--verbose'];
  return await runFor(
    path,
    ['-p', ...flags, prompt],
    {
      ...shared,
      // Else it refuses to run unattended as root.
      IS_SANDBOX: '1',
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    },
    task.folder,
  );
}

async function runFor(
  path: string,
  args: string[],
  env: Record<string, string>,
  cwd: string,
): Promise<Done> {
  const begun = performance.now();
  // A group of its own: what it has started ends with it.
  const child = spawn(path, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      if (output.length < OUTPUT_MAX) output += chunk.toString();
    });
  }
  const endGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It is gone already.
    }
  };
  const timer = setTimeout(endGroup, RUN_MS);
  child.once('exit', endGroup);
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', (error) => {
      output += String(error);
      resolve(null);
    });
    child.once('close', resolve);
  });
  clearTimeout(timer);
  return { code, output, durationMs: performance.now() - begun };
}
