// Module hooks for the conformance program on Node 20. Its one file imports `globSync` of Node 22
// for another of its modes, and cannot be loaded without. Its own text stays as it is.
import * as fs from 'node:fs';
import type { ResolveHook } from 'node:module';

const names = Object.keys(fs).filter((name) => name !== 'default');
const lent = `
import fs from 'node:fs';
export const { ${names.join(', ')} } = fs;
export const globSync = () => { throw new Error('there is no globSync in this version'); };`;

export const resolve: ResolveHook = (specifier, context, next) => {
  const isProgram = context.parentURL?.includes('/@modelcontextprotocol/conformance/') === true;
  if (specifier !== 'fs' || !isProgram) return next(specifier, context);
  return { url: `data:text/javascript,${encodeURIComponent(lent)}`, shortCircuit: true };
};
