// What the environment declares: the file of TOLLGATE_CONFIG, and in development mode the
// simulator, the providers whose keys are set, and local model runners.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { discoverModels } from '../../media/providers/generation/discover.ts';
import { compatibleFamily } from '../../media/providers/generation/families.ts';
import { type KnownProvider, providersWithKeys } from '../../media/providers/known.ts';
import { type Config, ConfigError } from '../../runtime/config.ts';
import { validateBody } from '../../runtime/http/validate.ts';
import type { Logger } from '../../runtime/log.ts';
import { Problem } from '../../runtime/problem.ts';
import { type DeclaredCatalog, declaredCatalog, type WrittenRecords } from './declaration.ts';
import { type CatalogDocument, catalogDocumentSchema, declaredDocumentSchema } from './document.ts';
import { documentFaults, faultLine } from './faults.ts';
import { type Definition, kindsOfRecords, recordKinds } from './kinds.ts';
import { addPaymentProviders } from './payments/development.ts';
import { addManagedRoutes, addSimulator, quirksRecord } from './simulator.ts';

export interface DeclaredOptions {
  config: Config;
  simulatorUrl: string | null;
  log: Logger;
}

/** What is declared, checked. Throws an Error with one line that names what is wrong. */
export async function readDeclared(options: DeclaredOptions): Promise<DeclaredCatalog> {
  const { config } = options;
  const file = config.configPath === null ? null : await readDocument(config.configPath);
  // What the environment declares comes behind the records of the file.
  const document = file?.document ?? v.parse(catalogDocumentSchema, {});
  if (config.mode === 'dev') {
    const { simulatorUrl } = options;
    const simulated = simulatorUrl === null ? [] : addSimulator(document, simulatorUrl);
    const declared = new Set(document.models.map(({ alias }) => alias));
    for (const { provider, apiKey } of providersWithKeys(config)) {
      addKnown(document, provider, apiKey);
    }
    for (const upstream of config.upstreams) await addRunner(document, upstream, options.log);
    const real = document.models.map(({ alias }) => alias).filter((alias) => !declared.has(alias));
    if (simulatorUrl !== null) addManagedRoutes(document, simulated, real);
    addPaymentProviders(document, config, simulatorUrl);
  }
  const [fault] = documentFaults(document);
  if (fault !== undefined) throw new ConfigError(`TOLLGATE_CONFIG: ${faultLine(fault)}`);
  return declaredCatalog(document, file?.written ?? null);
}

async function readDocument(
  path: string,
): Promise<{ document: CatalogDocument; written: WrittenRecords }> {
  let text = '';
  let parsed: unknown;
  try {
    // Editors of some systems begin a file with a mark that is no part of it (RFC 8259, 8.1).
    text = (await readFile(path, 'utf8')).replace(/^\ufeff/, '');
    parsed = JSON.parse(text);
  } catch (error) {
    const { message } = error as Error;
    const reason = error instanceof SyntaxError ? syntaxFault(text, message) : message;
    throw new ConfigError(`TOLLGATE_CONFIG: the file cannot be read as JSON: ${reason}`);
  }
  try {
    // The schema says what it gives; only the border's reader has forgotten it.
    const document = asRecords(validateBody(declaredDocumentSchema, parsed) as Definition);
    return { document: document as CatalogDocument, written: asRecords(parsed as Definition) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new ConfigError(`TOLLGATE_CONFIG: ${error.message}`);
  }
}

/** Settings are one record of their kind, which a file writes without its name. */
function asRecords(given: Definition): Definition {
  const records = { ...given };
  for (const kind of recordKinds) {
    const { onlyName: name } = kindsOfRecords[kind];
    if (name === undefined) continue;
    const members = given[kind] as Definition | undefined;
    records[kind] = members === undefined ? [] : [{ name, ...members }];
  }
  return records;
}

/** V8 quotes ten characters on each side, which may be a credential's: the line stands instead. */
function syntaxFault(text: string, message: string): string {
  const [, quoting, isCut, quoted = ''] =
    /^(.*?), (\.\.\.)?"([\s\S]*)"(?:\.\.\.)? is not valid JSON$/.exec(message) ?? [];
  const [, counting, place] = /^(.*) in JSON at position (\d+)/.exec(message) ?? [];
  const reason = quoting ?? counting;
  if (reason === undefined) return message;
  const quotedAt = text.indexOf(quoted) + (isCut === undefined ? 0 : 10);
  const before = text.slice(0, place === undefined ? quotedAt : Number(place));
  return `${reason} in line ${before.split('\n').length}`;
}

const knownCapabilities = ['chat', 'tools', 'vision', 'structured_output'] as const;

function addKnown(document: CatalogDocument, known: KnownProvider, apiKey: string): void {
  document.providers.push({
    name: known.name,
    family: known.family,
    base_url: known.baseUrl,
    api_key: apiKey,
    quirks: quirksRecord(known.quirks),
    enabled: true,
  });
  for (const model of known.models) {
    document.models.push({
      alias: `${known.name}-${model.upstreamModel}`,
      display_name: model.displayName,
      kind: 'generation',
      routes: [{ provider: known.name, upstream_model: model.upstreamModel }],
      price: model.price,
      context_window: model.contextWindow,
      output_tokens_max: model.outputTokensMax,
      capabilities: model.reasons ? [...knownCapabilities, 'reasoning'] : [...knownCapabilities],
      enabled: true,
    });
  }
}

const runnerCapabilities = ['chat', 'tools', 'structured_output'] as const;
const runnerPrice = { input_per_million: '0', output_per_million: '0' };
/** A search passes only at a price. */
const searchingPrice = { ...runnerPrice, per_search_call: '0' };
const aliasMax = 80;

/** A local runner costs its owner nothing a token: its models are free. */
async function addRunner(
  document: CatalogDocument,
  upstream: Config['upstreams'][number],
  log: Logger,
): Promise<void> {
  const found = await discoverModels(upstream.url, upstream.key);
  if (found.status === 'failed') {
    const told = {
      upstream: upstream.name,
      url: withoutCredentials(upstream.url),
      reason: found.reason,
    };
    log.warn(told, 'the runner is left out: it lists no models');
    return;
  }
  document.providers.push({
    name: upstream.name,
    family: compatibleFamily,
    base_url: upstream.url,
    ...(upstream.key === null ? {} : { api_key: upstream.key }),
    enabled: true,
  });
  const capabilities = [...(upstream.capabilities ?? runnerCapabilities)];
  const price = capabilities.includes('web_search') ? searchingPrice : runnerPrice;
  const declared = new Set(document.models.map((model) => model.alias));
  const taken = new Set<string>();
  for (const upstreamModel of new Set(found.models)) {
    const alias = runnerAlias(`${upstream.name}-${upstreamModel}`, taken);
    // What the file declares by such a name goes first.
    if (declared.has(alias)) continue;
    taken.add(alias);
    document.models.push({
      alias,
      display_name: upstreamModel.slice(0, 120),
      kind: 'generation',
      routes: [{ provider: upstream.name, upstream_model: upstreamModel }],
      price,
      context_window: 128_000,
      output_tokens_max: 4_096,
      capabilities,
      enabled: true,
    });
  }
}

function withoutCredentials(address: string): string {
  const url = new URL(address);
  url.username = '';
  url.password = '';
  return url.href;
}

/** Of names that are too long, or differ in what no alias can have, a hash tells which it is. */
function runnerAlias(name: string, taken: ReadonlySet<string>): string {
  const plain = name.toLowerCase().replace(/[^a-z0-9._-]+/g, '-');
  if (plain.length <= aliasMax && !taken.has(plain)) return plain;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${plain.slice(0, aliasMax - hash.length - 1)}-${hash}`;
}
