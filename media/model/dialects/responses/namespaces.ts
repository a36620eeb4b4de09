// Namespaces of the Responses format: tools in named groups. Other formats know none. A tool is
// called by both names in one there, and its call is given back to the client by two.
import { createHash } from 'node:crypto';
import { customTool } from '../../custom-tools.ts';
import type { FunctionTool } from '../../request.ts';

/** A tool in its namespace, as a call names it. */
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

/** Tools of a namespace under flat names; null: it is none, or the client does not run them. */
export function namespaceTools(tool: Readonly<Record<string, unknown>>): FunctionTool[] | null {
  const members = membersOf(tool);
  if (members === null) return null;
  return members.map(([namespace, declared]) =>
    clientTool(flatName(namespace, declared.name), declared),
  );
}

/** A function or custom tool under the name that models of other formats know it by. */
export function clientTool(
  name: string,
  { type, description: said, format, parameters, strict }: Members,
): FunctionTool {
  const description = typeof said === 'string' ? said : null;
  if (type === 'custom') return customTool(name, description, format);
  return {
    name,
    description,
    parameters: isMembers(parameters) ? parameters : null,
    strict: typeof strict === 'boolean' ? strict : null,
  };
}

/** Every tool that stands in a namespace of the request, by its flat name. */
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
type NamedTool = Members & { name: string };

function membersOf({ type, name, tools }: Members): [string, NamedTool][] | null {
  if (type !== 'namespace' || typeof name !== 'string' || !Array.isArray(tools)) return null;
  return tools.every(isNamedTool) ? tools.map((tool) => [name, tool]) : null;
}

/** Whether the client runs the tool, or all that a namespace has. */
export function isClientTool(tool: unknown): tool is NamedTool & { type: string } {
  return isNamedTool(tool) || (isMembers(tool) && membersOf(tool) !== null);
}

function isNamedTool(tool: unknown): tool is NamedTool {
  if (!isMembers(tool) || typeof tool.name !== 'string') return false;
  return tool.type === 'function' || tool.type === 'custom';
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
