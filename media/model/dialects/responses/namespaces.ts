// Namespaces of the Responses format: functions in named groups. Other formats know none, so there
// a function is called by both names in one, and its call is given back to the client by two.
import { createHash } from 'node:crypto';
import type { FunctionTool } from '../../request.ts';

/** A function in its namespace, as a call names it. */
export interface Inside {
  namespace: string;
  name: string;
}

/** What every provider takes as a name. */
const nameLengthMax = 64;
const hashLength = 8;
const noNamespaces: ReadonlyMap<string, Inside> = new Map();

/** One name for both; a long one ends in a hash of all of it. */
export function flatName(namespace: string, name: string): string {
  const flat = `${namespace}__${name}`;
  if (flat.length <= nameLengthMax) return flat;
  const hash = createHash('sha256').update(flat).digest('hex').slice(0, hashLength);
  return `${flat.slice(0, nameLengthMax - hashLength - 1)}_${hash}`;
}

/** The functions of a namespace under their flat names; null: it is none, or holds other tools. */
export function namespaceTools(tool: Readonly<Record<string, unknown>>): FunctionTool[] | null {
  const members = membersOf(tool);
  if (members === null) return null;
  return members.map(([namespace, { name, description, parameters, strict }]) => ({
    name: flatName(namespace, name),
    description: typeof description === 'string' ? description : null,
    parameters: isMembers(parameters) ? parameters : null,
    strict: typeof strict === 'boolean' ? strict : null,
  }));
}

/** Every function that stands in a namespace of the request, by its flat name. */
export function namespacesOf(tools: unknown): ReadonlyMap<string, Inside> {
  if (!Array.isArray(tools)) return noNamespaces;
  const found = new Map<string, Inside>();
  for (const tool of tools) {
    for (const [namespace, { name }] of (isMembers(tool) ? membersOf(tool) : null) ?? []) {
      found.set(flatName(namespace, name), { namespace, name });
    }
  }
  return found.size === 0 ? noNamespaces : found;
}

type Members = Record<string, unknown>;
type NamedFunction = Members & { name: string };

function membersOf({ type, name, tools }: Members): [string, NamedFunction][] | null {
  if (type !== 'namespace' || typeof name !== 'string' || !Array.isArray(tools)) return null;
  const isFunctions = tools.every(isNamedFunction);
  return isFunctions ? tools.map((tool) => [name, tool]) : null;
}

function isNamedFunction(tool: unknown): tool is NamedFunction {
  return isMembers(tool) && tool.type === 'function' && typeof tool.name === 'string';
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
