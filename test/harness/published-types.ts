// The request types that the vendors publish, read from the declarations of their clients. A new
// member or tool shows here when a package is updated.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);

/** The text of a declaration file of an installed package, without its comments. */
export function declarations(packageName: string, file: string): string {
  const folders = require.resolve.paths(packageName) ?? [];
  const folder = folders.find((entry) => existsSync(path.join(entry, packageName)));
  assert.ok(folder !== undefined, `${packageName} is installed`);
  const text = readFileSync(path.join(folder, packageName, file), 'utf8');
  return text.replace(/\/\*[\s\S]*?\*\//g, '');
}

/** The names of a union type, without their namespaces. */
export function unionNames(text: string, name: string): string[] {
  const match = new RegExp(`export type ${name} = ([^;]+);`).exec(text);
  assert.ok(match?.[1] !== undefined, `the union ${name} is published`);
  return match[1].split('|').map((part) => part.trim().split('.').at(-1) ?? '');
}

/** The bodies of every interface of this name. */
function interfaceBodies(text: string, name: string): string[] {
  const bodies: string[] = [];
  for (const match of text.matchAll(new RegExp(`interface ${name}\\b[^{]*\\{`, 'g'))) {
    const from = match.index + match[0].length;
    let depth = 1;
    let at = from;
    for (; depth > 0 && at < text.length; at += 1) {
      if (text[at] === '{') depth += 1;
      if (text[at] === '}') depth -= 1;
    }
    bodies.push(text.slice(from, at - 1));
  }
  return bodies;
}

/** The literals of the member `type` of these interfaces, sorted, each once. */
export function typeLiterals(text: string, names: readonly string[]): string[] {
  const found = names.flatMap((name) => {
    const types = interfaceBodies(text, name).flatMap((body) => {
      const member = /^\s*type\??: ([^;]+);/m.exec(body)?.[1] ?? '';
      return [...member.matchAll(/'([^']+)'/g)].map((literal) => literal[1] ?? '');
    });
    assert.ok(types.length > 0, `${name} has a type`);
    return types;
  });
  return [...new Set(found)].sort();
}

/** The top-level members of an interface, sorted. */
export function memberNames(text: string, name: string): string[] {
  const bodies = interfaceBodies(text, name);
  assert.ok(bodies.length > 0, `${name} is published`);
  const names = bodies.flatMap((body) => {
    const indent = /^( +)\S/m.exec(body)?.[1] ?? '';
    const members = body.matchAll(new RegExp(`^${indent}([a-z_]+)\\??: `, 'gm'));
    return [...members].map((member) => member[1] ?? '');
  });
  return [...new Set(names)].sort();
}
