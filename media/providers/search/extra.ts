// What a family takes of parameters that nobody here knows, and the names of the others.
import type { ParameterValue, SearchAsk } from '../../search/contract.ts';
import type { SearchFamily } from './family.ts';

export function sortedExtra(
  family: SearchFamily,
  { surface, extra }: SearchAsk,
): { passed: Record<string, ParameterValue>; ignored: string[] } {
  const passed: Record<string, ParameterValue> = {};
  const ignored: string[] = [];
  for (const [name, value] of Object.entries(extra)) {
    const isKnown = Object.hasOwn(family.passes, name);
    if (isKnown && (family.takes?.(surface, name, value) ?? true)) passed[name] = value;
    else ignored.push(name);
  }
  return { passed, ignored };
}
