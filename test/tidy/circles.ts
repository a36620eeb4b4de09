// No file imports itself by way of others: by value never, by type in at most two places.
import type { Check } from './check.ts';
import { circularComponents, type Graph, shortestCircle } from './graph.ts';
import { type Import, importsOf } from './imports.ts';
import type { Tree } from './tree.ts';

/** `runtime/actor` is one: system, cell and reference know each other's types. */
const TYPE_COMPONENTS_MAX = 2;

function graphOf(imports: Import[]): Graph {
  const graph = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const known = graph.get(from);
    if (known === undefined) graph.set(from, new Set([to]));
    else known.add(to);
  }
  return graph;
}

/** Each component: its size and files, then one of its shortest circles. */
function describe(graph: Graph, component: string[]): string {
  const circle = shortestCircle(graph, component);
  const way = [...circle, circle[0]].join(' -> ');
  return `${component.length} files: ${component.join(' ')}\n    shortest: ${way}`;
}

function describeAll(imports: Import[]): string[] {
  const graph = graphOf(imports);
  return circularComponents(graph).map((component) => describe(graph, component));
}

const allImports = (tree: Tree) => tree.sources.flatMap(importsOf);

/** Every component with all edges inside it; for whoever takes one apart. */
export function circlesInDetail(tree: Tree, isByValue: boolean): string[] {
  const imports = allImports(tree).filter(({ isValue }) => isValue || !isByValue);
  const graph = graphOf(imports);
  return circularComponents(graph).map((component) => {
    const members = new Set(component);
    const inside = imports.filter(({ from, to }) => members.has(from) && members.has(to));
    const edges = inside.map(
      ({ from, line, to, isValue }) => `    ${from}:${line} ${isValue ? 'value' : 'type '} ${to}`,
    );
    return [describe(graph, component), ...edges].join('\n');
  });
}

export const circlesByValue: Check = {
  id: 'circles-by-value',
  rule: 'no circle of imports by value',
  advice: 'move what both need into a file of its own',
  find: (tree) => describeAll(allImports(tree).filter(({ isValue }) => isValue)),
};

export const circlesByType: Check = {
  id: 'circles-by-type',
  rule: `at most ${TYPE_COMPONENTS_MAX} circles of imports by type`,
  advice: 'give the type that closes a circle a file of its own',
  find(tree) {
    const components = describeAll(allImports(tree));
    return components.length > TYPE_COMPONENTS_MAX ? components : [];
  },
};
