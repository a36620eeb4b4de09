// The tools that a `tool_choice` of type `allowed_tools` leaves. Models of other formats know no
// such list: they are offered no others. A function in a namespace is listed with its namespace, as
// calls name it, or within its namespace, as it is declared.
import { refuseNoneAllowed } from '../fields.ts';
import type { DeclaredChoice, DeclaredTool } from './schema.ts';

type Entry = Readonly<Record<string, unknown>>;

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
  const named = namedBy(listed, new Set(declared.flatMap(valuesOf)));
  const left = declared.flatMap((tool): [DeclaredTool, DeclaredTool][] => {
    const allowed = partOf(tool, named);
    return allowed === null ? [] : [[tool, allowed]];
  });
  return new Map(refuseNoneAllowed(left, 'tool_choice.tools'));
}

/** What a list of allowed tools names, to be looked up: both lists are as long as clients like. */
interface Named {
  /** Whole declarations by type, name and label of the server, where they were said. */
  wholes: Map<unknown, Map<unknown, Set<unknown>>>;
  /** Functions by their namespace. */
  functions: Map<unknown, Set<unknown>>;
}

function namedBy(listed: readonly Entry[], declared: ReadonlySet<unknown>): Named {
  const named: Named = { wholes: new Map(), functions: new Map() };
  for (const { type, name, server_label: label, namespace, tools } of listed) {
    const said = [type, name, label].filter((value) => value !== undefined);
    const isWhole = namespace === undefined && !Array.isArray(tools);
    if (isWhole && said.every((value) => declared.has(value))) {
      const ofType = gotten(named.wholes, type, () => new Map<unknown, Set<unknown>>());
      gotten(ofType, name, () => new Set()).add(label);
    }
    if (!declared.has(type === 'function' ? namespace : name)) continue;
    if (type === 'function') gotten(named.functions, namespace, () => new Set()).add(name);
    else if (type === 'namespace' && Array.isArray(tools)) {
      const names = gotten(named.functions, name, () => new Set());
      for (const tool of tools as (Entry | null)[]) names.add(tool?.name);
    }
  }
  return named;
}

function valuesOf({ type, name, server_label: label }: Entry): unknown[] {
  return [type, name, label];
}

function gotten<T>(map: Map<unknown, T>, key: unknown, make: () => T): T {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function partOf(tool: DeclaredTool, named: Named): DeclaredTool | null {
  if (isWhole(tool, named)) return tool;
  const members: unknown = (tool as Entry).tools;
  if (tool.type !== 'namespace' || !Array.isArray(members)) return null;
  const names = named.functions.get(tool.name);
  const tools = members.filter((member: Entry | null) => names?.has(member?.name));
  return tools.length === 0 ? null : { ...tool, tools };
}

/** What an entry does not say of a declaration may be anything. */
function isWhole(tool: Entry, { wholes }: Named): boolean {
  return [undefined, tool.type].some((type) =>
    [undefined, tool.name].some((name) => {
      const labels = wholes.get(type)?.get(name);
      return labels?.has(undefined) === true || labels?.has(tool.server_label) === true;
    }),
  );
}
