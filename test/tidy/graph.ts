// Strongly connected components of a graph, and the shortest circle in one: Tarjan's algorithm
// with a stack of its own, as a chain of imports may be deeper than the one of calls.

export type Graph = ReadonlyMap<string, ReadonlySet<string>>;

interface Visit {
  node: string;
  next: Iterator<string>;
}

class Search {
  readonly #graph: Graph;
  readonly #index = new Map<string, number>();
  readonly #low = new Map<string, number>();
  readonly #open: string[] = [];
  readonly #isOpen = new Set<string>();
  readonly components: string[][] = [];

  constructor(graph: Graph) {
    this.#graph = graph;
  }

  from(root: string): void {
    if (this.#index.has(root)) return;
    const path = [this.#enter(root)];
    for (let visit = path.at(-1); visit !== undefined; visit = path.at(-1)) {
      const { done, value } = visit.next.next();
      if (done === true) {
        path.pop();
        this.#leave(visit.node, path.at(-1)?.node);
      } else if (!this.#index.has(value)) {
        path.push(this.#enter(value));
      } else if (this.#isOpen.has(value)) {
        this.#lower(visit.node, this.#index.get(value) ?? 0);
      }
    }
  }

  #enter(node: string): Visit {
    this.#low.set(node, this.#index.size);
    this.#index.set(node, this.#index.size);
    this.#open.push(node);
    this.#isOpen.add(node);
    return { node, next: (this.#graph.get(node) ?? new Set<string>()).values() };
  }

  #lower(node: string, to: number): void {
    this.#low.set(node, Math.min(this.#low.get(node) ?? to, to));
  }

  #leave(node: string, parent: string | undefined): void {
    const low = this.#low.get(node) ?? 0;
    if (parent !== undefined) this.#lower(parent, low);
    if (low !== this.#index.get(node)) return;
    const component = this.#open.splice(this.#open.indexOf(node));
    for (const member of component) this.#isOpen.delete(member);
    this.components.push(component);
  }
}

/** Components of more than one node, and nodes with an edge to themselves; largest first. */
export function circularComponents(graph: Graph): string[][] {
  const search = new Search(graph);
  for (const node of graph.keys()) search.from(node);
  return search.components
    .filter(([node = '', ...others]) => others.length > 0 || graph.get(node)?.has(node) === true)
    .map((component) => component.sort())
    .sort((left, right) => right.length - left.length || (left < right ? -1 : 1));
}

/** The shortest way from a node back to itself within the component; the end is not repeated. */
function shortestFrom(graph: Graph, start: string, members: ReadonlySet<string>): string[] {
  const before = new Map<string, string>();
  const queue = [start];
  for (const node of queue) {
    for (const next of graph.get(node) ?? []) {
      if (next === start) {
        const circle = [node];
        for (let at = node; at !== start; ) {
          at = before.get(at) ?? start;
          circle.unshift(at);
        }
        return circle;
      }
      if (!members.has(next) || before.has(next)) continue;
      before.set(next, node);
      queue.push(next);
    }
  }
  return [];
}

/** One of the shortest circles of a component. */
export function shortestCircle(graph: Graph, component: string[]): string[] {
  const members = new Set(component);
  return component
    .map((node) => shortestFrom(graph, node, members))
    .filter((circle) => circle.length > 0)
    .reduce((best, circle) => (circle.length < best.length ? circle : best));
}
