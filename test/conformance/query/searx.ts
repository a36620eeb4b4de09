// A real searx 1.1, Debian's package, with one engine that asks the simulator. Its settings stand
// in a temporary folder, and it ends with the test.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../harness/port.ts';

const resources = '/usr/share/python3-searx';
const startMsMax = 60_000;

/** The interpreter that has it; the one of a path may be another than Debian's. */
function interpreterOf(): string | null {
  const code = 'import importlib.util as u, sys; sys.exit(u.find_spec("searx") is None)';
  const found = ['python3', '/usr/bin/python3'].find(
    (program) => spawnSync(program, ['-c', code], { stdio: 'ignore' }).status === 0,
  );
  return found ?? null;
}

const interpreter = interpreterOf();
/** Why tests of it are skipped; false: it is there. */
export const withoutSearx: string | false =
  interpreter === null ? 'searx is not installed (apt-get install searx)' : false;

export interface Searx {
  url: string;
  close(): Promise<void>;
}

export async function startSearx(simulatorUrl: string): Promise<Searx> {
  assert.ok(interpreter !== null, 'there is no searx');
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-searx-'));
  const port = await freePort();
  const settingsPath = join(folder, 'settings.yml');
  await writeFile(settingsPath, JSON.stringify(settingsOf(port, simulatorUrl)));
  const child = spawn(interpreter, ['-m', 'searx.webapp'], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, SEARX_SETTINGS_PATH: settingsPath },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4_000);
  });
  const url = `http://127.0.0.1:${port}`;
  const close = () => stop(child, folder);
  try {
    await ready(url, child);
  } catch (error) {
    await close();
    throw new Error(`searx did not start: ${said}`, { cause: error });
  }
  return { url, close };
}

async function stop(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await rm(folder, { recursive: true, force: true });
}

async function ready(url: string, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + startMsMax;
  for (;;) {
    const reply = await fetch(`${url}/config`).catch(() => null);
    await reply?.arrayBuffer();
    if (reply?.status === 200) return;
    assert.equal(child.exitCode, null, 'it has ended');
    assert.ok(performance.now() < deadline, `not within ${startMsMax} ms`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** JSON is YAML. */
function settingsOf(port: number, simulatorUrl: string) {
  return {
    general: { debug: false, instance_name: 'tollgate', contact_url: false, enable_stats: false },
    brand: {
      git_url: '',
      git_branch: '',
      issue_url: '',
      docs_url: '',
      public_instances: '',
      wiki_url: '',
      twitter_url: '',
    },
    search: {
      safe_search: 0,
      autocomplete: '',
      default_lang: '',
      // Zero would be its default of seconds, in which a banned engine says nothing.
      ban_time_on_fail: 0.001,
      max_ban_time_on_fail: 0.001,
      prefer_configured_language: false,
    },
    server: {
      port,
      bind_address: '127.0.0.1',
      secret_key: 'of a test alone',
      base_url: false,
      image_proxy: false,
      http_protocol_version: '1.1',
      method: 'POST',
      default_http_headers: {},
    },
    ui: {
      static_path: `${resources}/static`,
      templates_path: `${resources}/templates`,
      default_theme: 'oscar',
      default_locale: '',
      theme_args: { oscar_style: 'logicodev' },
    },
    outgoing: { request_timeout: 15, useragent_suffix: '', pool_connections: 4, pool_maxsize: 4 },
    engines: [
      {
        name: 'simulated',
        engine: 'json_engine',
        shortcut: 'sim',
        categories: 'general',
        paging: true,
        // Without it, no address of plain HTTP is asked.
        enable_http: true,
        search_url: `${simulatorUrl}/searxng/search?format=json&q={query}&pageno={pageno}`,
        first_page_num: 1,
        results_query: 'results',
        url_query: 'url',
        title_query: 'title',
        content_query: 'content',
        suggestion_query: 'suggestions/0',
      },
    ],
    locales: { en: 'English' },
    doi_resolvers: { none: 'https://doi.example.org/' },
    default_doi_resolver: 'none',
  };
}
