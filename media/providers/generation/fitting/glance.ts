// A first look at a schema. Most have nothing to fit, and all of them come with each request.
// What is not known at a glance is left to the fitter, which costs more.
import { isMembers, type Members } from '../../../transport/members.ts';
import { compiles } from './patterns.ts';
import type { SchemaRules } from './rules.ts';
import { isOutside } from './subset.ts';

const dollar = '$'.charCodeAt(0);
/** Keywords whose switches are the same in all drafts. */
const switches: ReadonlySet<string> = new Set([
  'additionalProperties',
  'default',
  'deprecated',
  'readOnly',
  'uniqueItems',
  'writeOnly',
]);

/** Whether nothing of it is to be changed, for sure. One loop over the members of all. */
export function isPlain(schema: Members, rules: SchemaRules): boolean {
  for (const name in schema) {
    const member = schema[name];
    if (typeof member === 'string') {
      if (name === 'pattern') {
        if (!compiles(member, rules.patterns)) return false;
      } else if (member === 'array') {
        if (rules.needsItems && schema.items === undefined) return false;
      } else if (rules.isSubset && (name === 'const' || name.charCodeAt(0) === dollar))
        return false;
    } else if (typeof member === 'object') {
      if (!isPlainInside(name, member, rules)) return false;
    } else if (typeof member === 'boolean') {
      if (!switches.has(name)) return false;
    } else if (rules.isSubset && isOutside(name, member)) return false;
  }
  return true;
}

function isPlainInside(name: string, member: object | null, rules: SchemaRules): boolean {
  switch (name) {
    case 'properties':
      return member !== null && arePlain(member as Members, rules);
    case 'items':
      return isMembers(member) && isPlain(member, rules);
    case 'anyOf':
    case 'oneOf':
      return Array.isArray(member) && arePlain(member as unknown as Members, rules);
    case 'required':
    case 'default':
    case 'examples':
      return true;
    case 'enum':
      return !rules.isSubset || !isOutside(name, member);
    default:
      return false;
  }
}

function arePlain(schemas: Members, rules: SchemaRules): boolean {
  for (const name in schemas) {
    const schema = schemas[name];
    if (isMembers(schema) && !isPlain(schema, rules)) return false;
  }
  return true;
}
