// A module hook (node:module `register`): the peer's import of its HTTP server gets `portkey-serve`
// in between. Runs on node's loader thread.
interface Resolved {
  url: string;
  shortCircuit?: boolean;
}
type Next = (specifier: string, context: unknown) => Promise<Resolved>;

/** Redirects one specifier, leaves the rest alone. */
export async function resolve(specifier: string, context: unknown, next: Next): Promise<Resolved> {
  if (specifier !== '@hono/node-server') return next(specifier, context);
  return { url: new URL('./portkey-serve.js', import.meta.url).href, shortCircuit: true };
}
