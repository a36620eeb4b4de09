// What is wrong with the hosted tools of a card or a model beyond the schema.
import { searchType, toolTypeOf } from '../../media/model/hosted-tools.ts';
import type { ModelRecord, PriceMembers } from './document.ts';
import type { PathFault } from './path-fault.ts';

/** Faults of a card: two prices of one tool, or one of a search, which has a member of its own. */
export function toolPriceFaults(
  { per_tool_call: prices = {} }: PriceMembers,
  prefix: string,
): PathFault[] {
  const seen = new Set<string>();
  return Object.keys(prices).flatMap((declared): PathFault[] => {
    const path = `${prefix}per_tool_call.${declared}`;
    const type = toolTypeOf(declared);
    if (type === searchType) return [{ path, message: 'a search is priced by per_search_call' }];
    if (seen.has(type)) return [{ path, message: `"${type}" has two prices` }];
    seen.add(type);
    return [];
  });
}

/** Faults of a model: a tool passes only at a price. That of a search may be the surface's. */
export function hostedToolFaults(
  { kind, hosted_tools: types = [] }: ModelRecord,
  card: PriceMembers,
): PathFault[] {
  if (types.length > 0 && kind !== 'generation') {
    return [{ path: 'hosted_tools', message: `a ${kind} model runs no tools` }];
  }
  const priced = new Set([searchType, ...Object.keys(card.per_tool_call ?? {}).map(toolTypeOf)]);
  return types.flatMap((type, index): PathFault[] => {
    if (priced.has(toolTypeOf(type))) return [];
    const message = `the card has no price for "${type}": per_tool_call names it, "0" is a price`;
    return [{ path: `hosted_tools[${index}]`, message }];
  });
}
