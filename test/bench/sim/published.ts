// Checks values against the types that a vendor publishes in a .d.ts: required members, literals,
// and members that no type has. It reads the regular text of generated declarations, no more.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

interface Member {
  optional: boolean;
  type: string;
}

interface Declared {
  /** Null: a type alias. */
  members: Map<string, Member> | null;
  /** The alias, or what an interface extends. */
  type: string;
  scope: string;
}

export interface Published {
  /** What is wrong with the value as this type; empty: nothing. */
  findings(value: unknown, type: string): string[];
}

const require = createRequire(import.meta.url);

/** `entry` is a module whose declarations are beside it, or the path of the declarations. */
export function readPublished(entry: string): Published {
  const path = entry.endsWith('.d.ts')
    ? entry
    : require.resolve(entry).replace(/\.(c|m)?js$/, '.d.ts');
  const text = readFileSync(path, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
  const types = new Map<string, Declared>();
  declare(text, '', types);
  return { findings: (value, type) => check(types, value, type, '', type) };
}

const opening = /^\s*(?:export )?(?:declare )?(namespace|interface|class|enum|type) (\w+)/;

function declare(text: string, scope: string, types: Map<string, Declared>): void {
  let rest = text;
  while (rest !== '') {
    const end = statementEnd(rest);
    const statement = rest.slice(0, end);
    rest = rest.slice(end);
    const found = opening.exec(statement);
    if (found === null) continue;
    const [, kind, name = ''] = found;
    const path = scope === '' ? name : `${scope}.${name}`;
    const body = statement.slice(statement.indexOf('{') + 1, statement.lastIndexOf('}'));
    if (kind === 'namespace') declare(body, path, types);
    else if (kind === 'type') {
      const type = statement.slice(statement.indexOf('=') + 1).replace(/;\s*$/, '');
      types.set(path, { members: null, type: type.trim(), scope });
    } else if (kind === 'enum') {
      const values = [...body.matchAll(/= (".*?")/g)].map(([, value]) => value);
      types.set(path, { members: null, type: values.join(' | '), scope });
    } else {
      const parent = /extends ([\w.]+)/.exec(statement.slice(0, statement.indexOf('{')));
      const type = parent?.[1] ?? '';
      types.set(path, { members: membersOf(body), type, scope: path });
    }
  }
}

/** Statements end with `;` or with the brace that closes them, at the outermost level. */
function statementEnd(text: string): number {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '{') depth += 1;
    if (character === '}') depth -= 1;
    if (depth > 0) continue;
    if (character === ';') return index + 1;
    if (character === '}') {
      const next = text.slice(index + 1).match(/^\s*[;|)\]>,[]/);
      if (next === null) return index + 1;
    }
  }
  return text.length;
}

function membersOf(body: string): Map<string, Member> {
  const members = new Map<string, Member>();
  let rest = body;
  while (rest.trim() !== '') {
    const end = statementEnd(rest);
    const found = /^\s*(?:readonly )?['"]?([\w$]+)['"]?(\?)?:\s*([\s\S]*?);?\s*$/.exec(
      rest.slice(0, end),
    );
    rest = rest.slice(end);
    const [, name, mark, type = ''] = found ?? [];
    if (name !== undefined) members.set(name, { optional: mark === '?', type });
  }
  return members;
}

function check(
  types: Map<string, Declared>,
  value: unknown,
  type: string,
  scope: string,
  at: string,
): string[] {
  const variants = split(type, '|');
  if (variants.length === 1) return checkOne(types, value, (variants[0] ?? '').trim(), scope, at);
  let closest: string[] | null = null;
  for (const variant of variants) {
    const findings = checkOne(types, value, variant.trim(), scope, at);
    if (findings.length === 0) return [];
    if (closest === null || depthOf(findings) > depthOf(closest)) closest = findings;
  }
  return closest ?? [];
}

/** The variant that was meant agrees about `type`, and has fewer findings. */
function depthOf(findings: string[]): number {
  const isOther = findings.some((finding) => /\.(type|role|object): /.test(finding));
  return isOther ? -1000 : -findings.length;
}

function checkOne(
  types: Map<string, Declared>,
  value: unknown,
  type: string,
  scope: string,
  at: string,
): string[] {
  const wrong = [`${at}: ${JSON.stringify(value)?.slice(0, 60)} is not ${type.slice(0, 60)}`];
  const verdict = (good: boolean) => (good ? [] : wrong);
  if (['unknown', 'any', ''].includes(type)) return [];
  if (['string', 'number', 'boolean'].includes(type)) return verdict(typeof value === type);
  if (type === 'null') return verdict(value === null);
  if (/^['"].*['"]$/.test(type)) return verdict(value === type.slice(1, -1));
  if (type === 'true' || type === 'false') return verdict(String(value) === type);
  if (type.startsWith('(') && type.endsWith(')')) {
    return type.includes('& {}') ? verdict(typeof value === 'string') : [];
  }
  const item = /^Array<([\s\S]*)>$/.exec(type)?.[1] ?? /^([\w.]+)\[\]$/.exec(type)?.[1];
  if (item !== undefined) {
    if (!Array.isArray(value)) return wrong;
    return value.flatMap((entry, index) => check(types, entry, item, scope, `${at}[${index}]`));
  }
  if (type.startsWith('{')) {
    return checkMembers(types, value, membersOf(type.slice(1, -1)), scope, at) ?? wrong;
  }
  const declared = resolve(types, type, scope);
  if (declared === undefined) return [];
  if (declared.members === null) return check(types, value, declared.type, declared.scope, at);
  const inherited = resolve(types, declared.type, declared.scope)?.members ?? [];
  const members = new Map([...inherited, ...declared.members]);
  return checkMembers(types, value, members, declared.scope, at) ?? wrong;
}

/** Null: not an object. */
function checkMembers(
  types: Map<string, Declared>,
  value: unknown,
  members: Map<string, Member>,
  scope: string,
  at: string,
): string[] | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const entries = value as Record<string, unknown>;
  const findings: string[] = [];
  for (const [name, { optional, type }] of members) {
    const entry = entries[name];
    if (entry !== undefined) findings.push(...check(types, entry, type, scope, `${at}.${name}`));
    else if (!optional) findings.push(`${at}.${name} is missing`);
  }
  const open = members.size === 0;
  const strange = Object.keys(entries).filter((name) => !open && !members.has(name));
  return [...findings, ...strange.map((name) => `${at}.${name} is not published`)];
}

function resolve(types: Map<string, Declared>, name: string, scope: string): Declared | undefined {
  for (let prefix = scope; prefix !== ''; prefix = prefix.split('.').slice(0, -1).join('.')) {
    const found = types.get(`${prefix}.${name}`);
    if (found !== undefined) return found;
  }
  return types.get(name);
}

/** At the outermost level of brackets, and outside quotes. */
function split(type: string, separator: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let quote = '';
  let start = 0;
  for (let index = 0; index < type.length; index += 1) {
    const character = type.charAt(index);
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === "'" || character === '"') quote = character;
    else if ('{<(['.includes(character)) depth += 1;
    else if ('}>)]'.includes(character)) depth -= 1;
    else if (character === separator && depth === 0) {
      parts.push(type.slice(start, index));
      start = index + 1;
    }
  }
  return [...parts, type.slice(start)].filter((part) => part.trim() !== '');
}
