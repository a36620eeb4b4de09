// Who opens connections. URLs that somebody else names go through `runtime/outbound/`; the others
// are the operator's, and each file that reaches them stands here with its reason.
import type { Check } from './check.ts';
import { importsOf, lineOf } from './imports.ts';
import { isProduct, type Source } from './tree.ts';

/** Paths, and whose addresses these are. A new line needs a reason that holds for every call. */
const ALLOWED: readonly (readonly [path: RegExp, reason: string])[] = [
  [/^runtime\/outbound\//, 'the guard itself'],
  [/^runtime\/dns\.ts$/, 'TOLLGATE_DNS_SERVERS, which the operator gives'],
  [/^actors\/mail\/smtp\.ts$/, 'TOLLGATE_SMTP_URL, which the operator gives'],
  [/^runtime\/embedded\/probe\.ts$/, 'the socket file of our own database'],
  [/^db\/driver\//, 'DATABASE_URL, which the operator gives'],
  [/^media\/transport\/(dial|socket|call-pool)\.ts$/, 'base_url of a provider, and nothing else'],
  [/^media\/providers\/generation\/(discover|count|probe)\.ts$/, 'base_url of a provider'],
  [/^media\/providers\/search\/serper\/search\.ts$/, 'base_url of a provider'],
  [/^media\/payments\/call\.ts$/, 'base_url of a payment provider'],
  [/^actors\/payments\/simulated\.ts$/, 'the simulator that the parent has started'],
  [/^media\/providers\/live\/call\.ts$/, 'names the states of the sockets of media/transport'],
  [/^routes\/pages\/[^/]+\/browser\//, 'runs in a browser, under the policy of its page'],
];

/** Modules that can connect or ask a resolver, and what of them does neither. */
const HARMLESS: ReadonlyMap<string, readonly string[]> = new Map([
  ['http', ['createServer', 'STATUS_CODES']],
  ['https', ['createServer']],
  ['http2', []],
  ['net', ['BlockList', 'createServer', 'isIP', 'isIPv4', 'isIPv6', 'SocketAddress']],
  ['tls', ['createSecureContext']],
  ['dgram', []],
  ['nodemailer', []],
  ['dns', []],
  ['dns/promises', []],
  ['undici', []],
  ['ws', []],
]);

const IMPORT = /^import\s+(type\s+)?([^'"`;()]*?)\s*from\s*['"](?:node:)?([\w/]+)['"]/gm;
const LOADED = /\b(?:import|require)\(\s*['"](?:node:)?([\w/]+)['"]\s*\)/g;
const GLOBAL =
  /(?<![.\w])fetch\(|\bglobalThis\.fetch\b|\bnew (?:WebSocket|EventSource|XMLHttpRequest)\(/g;

/** Whoever has these can connect without a module of its own. */
const TRANSPORT = /^media\/transport\/(dial|socket|call-pool|connections?)\.ts$/;

/** What an import binds as a value; a default or a whole module is everything. */
function valuesOf(clause: string): string[] {
  const named = /\{([^}]*)\}/.exec(clause);
  const rest = clause.replace(named?.[0] ?? '', '').replace(/[\s,]/g, '');
  const names = (named?.[1] ?? '').split(',').map((name) => name.trim());
  const values = names.filter((name) => name !== '' && !name.startsWith('type '));
  return rest === '' ? values.map((name) => name.split(' ')[0] ?? '') : ['everything', ...values];
}

function connectionsIn({ path, code }: Source): string[] {
  const found: { index: number; what: string }[] = [];
  for (const { index, 1: type, 2: clause = '', 3: module = '' } of code.matchAll(IMPORT)) {
    const harmless = HARMLESS.get(module);
    if (harmless === undefined || type !== undefined) continue;
    const values = valuesOf(clause).filter((name) => !harmless.includes(name));
    if (values.length > 0) found.push({ index, what: `${values.join(', ')} of ${module}` });
  }
  for (const { index, 1: module = '' } of code.matchAll(LOADED)) {
    if (HARMLESS.has(module)) found.push({ index, what: `everything of ${module}` });
  }
  for (const { index, 0: what } of code.matchAll(GLOBAL)) found.push({ index, what });
  return found.map(({ index, what }) => `${path}:${lineOf(code, index)} ${what}`);
}

export const outbound: Check = {
  id: 'outbound',
  rule: 'only the outbound guard connects to what a user, a document or a reply names',
  advice: 'ask outbound.fetch; a file for the addresses of operators is listed in this check',
  find({ sources }) {
    const product = sources.filter(isProduct);
    const borrowed = product
      .filter(({ path }) => !path.startsWith('media/'))
      .flatMap(importsOf)
      .filter(({ to, isValue }) => isValue && TRANSPORT.test(to))
      .map(({ from, line, to }) => `${from}:${line} imports ${to}`);
    const isAllowed = ({ path }: Source) => ALLOWED.some(([pattern]) => pattern.test(path));
    const unused = product
      .filter((file) =>
        ALLOWED.some(([pattern]) => /\$$/.test(pattern.source) && pattern.test(file.path)),
      )
      .filter((file) => connectionsIn(file).length === 0)
      .map(({ path }) => `${path} is allowed to connect, and does not`);
    const found = product.filter((file) => !isAllowed(file)).flatMap(connectionsIn);
    return [...found, ...borrowed, ...unused];
  },
};
