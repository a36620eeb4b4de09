// The tools that a `tool_choice` of type `allowed_tools` leaves. Models of other formats know no
// such list: they are offered no others. A function in a namespace is listed with its namespace, as
// calls name it, or within its namespace, as it is declared.
import { refuseNoneAllowed } from '../fields.ts';
import type { DeclaredChoice, DeclaredTool } from './request.ts';

type Entry = Readonly<Record<string, unknown>>;

/** What tells one declaration from another. */
const namingMembers = ['type', 'name', 'server_label'] as const;

/**
 * The declarations that are left: all of each, or the functions of a namespace that are listed.
 * @throws Problem invalid_request: none is left
 */
export function allowedAmong(
  declared: readonly DeclaredTool[],
  choice: DeclaredChoice,
): ReadonlyMap<DeclaredTool, DeclaredTool> {
  const listed = typeof choice === 'object' && choice?.type === 'allowed_tools' && choice.tools;
  if (!listed) return new Map(declared.map((tool) => [tool, tool]));
  const left = declared.flatMap((tool): [DeclaredTool, DeclaredTool][] => {
    const allowed = partOf(tool, listed);
    return allowed === null ? [] : [[tool, allowed]];
  });
  return new Map(refuseNoneAllowed(left, 'tool_choice.tools'));
}

function partOf(tool: DeclaredTool, listed: readonly Entry[]): DeclaredTool | null {
  if (listed.some((entry) => isWhole(entry, tool))) return tool;
  const members: unknown = (tool as Entry).tools;
  if (tool.type !== 'namespace' || !Array.isArray(members)) return null;
  const tools = members.filter((member: Entry | null) =>
    listed.some((entry) => isInside(entry, tool.name, member?.name)),
  );
  return tools.length === 0 ? null : { ...tool, tools };
}

function isWhole(entry: Entry, tool: DeclaredTool): boolean {
  if (entry.namespace !== undefined || Array.isArray(entry.tools)) return false;
  return namingMembers.every((name) => entry[name] === undefined || entry[name] === tool[name]);
}

function isInside({ type, name, namespace, tools }: Entry, inside: unknown, wanted: unknown) {
  if (type === 'function') return namespace === inside && name === wanted;
  if (type !== 'namespace' || name !== inside || !Array.isArray(tools)) return false;
  return tools.some((tool: Entry | null) => tool?.name === wanted);
}
