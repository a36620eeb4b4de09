// References inside a schema: a schema of its own `$defs`, by the pointer that names it.
import { isMembers, type Members } from '../../../transport/members.ts';

const stepsMax = 32;

/** The schema that `#/$defs/Name` or the like names; null: there is none. */
export function referred(root: Members, reference: unknown): Members | null {
  if (reference === '#') return root;
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return null;
  let found: unknown = root;
  for (const step of reference.slice(2).split('/').slice(0, stepsMax)) {
    const name = unescaped(step);
    if (Array.isArray(found)) found = found[Number(name)];
    else if (isMembers(found) && Object.hasOwn(found, name)) found = found[name];
    else return null;
  }
  return isMembers(found) ? found : null;
}

/** RFC 6901, 3 and 6. */
function unescaped(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return step;
  }
}
