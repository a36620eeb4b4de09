// The top of a function's parameters as an object: providers take no combination there, and no
// reference. What comes out allows all that was allowed, and perhaps more.
import { isMembers, type Members } from '../../../transport/members.ts';
import type { Allowance } from './allowance.ts';
import { all, both, either } from './combine.ts';
import { referred } from './references.ts';

const combining = ['allOf', 'anyOf', 'oneOf'] as const;
/** They say nothing of the members of an object. */
const barred = ['const', 'enum', 'not'] as const;
/** A root that refers to itself has no end. */
const hopsMax = 8;

/** The schema with its combinations put together, where they stand at its top. */
export function objectRoot(schema: Members, allowance: Allowance): Members {
  const resolve = resolver(schema, allowance);
  let root = schema;
  for (let hops = 0; root.$ref !== undefined && hops < hopsMax; hops += 1) root = resolve(root);
  const isPlain = ![...combining, ...barred].some((name) => root[name] !== undefined);
  if (isPlain) return root;
  const { anyOf, oneOf, ...rest } = asOne(root, resolve);
  for (const name of barred) delete rest[name];
  let united = rest;
  for (const list of [anyOf, oneOf]) {
    if (!Array.isArray(list)) continue;
    const branches = list
      .map((branch) => branchOf(branch, resolve))
      .filter((branch) => branch !== null);
    const [only = {}, ...others] = branches;
    if (branches.length > 0) {
      united = others.length === 0 ? both(united, only) : either(united, branches);
    }
  }
  return united;
}

type Resolve = (schema: Members) => Members;

/** Gives schemas with what their references say; what is beyond the allowance says nothing. */
function resolver(root: Members, allowance: Allowance): Resolve {
  return (schema) => {
    if (schema.$ref === undefined) return schema;
    const { $ref, ...rest } = schema;
    const found = referred(root, $ref);
    return found !== null && allowance.spend(found) ? both(found, rest) : rest;
  };
}

/** With what stands in its `allOf`. */
function asOne(schema: Members, resolve: Resolve): Members {
  const { allOf: parts, ...rest } = schema;
  if (!Array.isArray(parts)) return rest;
  return all([rest, ...parts.filter(isMembers).map(resolve)]);
}

/** Null: no object can satisfy it. */
function branchOf(branch: unknown, resolve: Resolve): Members | null {
  if (!isMembers(branch)) return null;
  const schema = asOne(resolve(branch), resolve);
  const { type } = schema;
  if (type === undefined) return schema;
  return type === 'object' || (Array.isArray(type) && type.includes('object')) ? schema : null;
}
