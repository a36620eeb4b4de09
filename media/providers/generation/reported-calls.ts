// Calls of hosted tools as a provider's usage counts them: `<type>_requests` of `server_tool_use`.
import { hostedTypeOf, searchType } from '../../model/hosted-tools.ts';
import type { WireFormat } from '../../model/request.ts';
import type { ToolCalls } from '../../model/usage.ts';
import { count, isMembers } from '../../transport/members.ts';

const suffix = '_requests';

/** Counts by type. Tools that cost nothing are left out, and searches, which have a bucket. */
export function reportedCalls(format: WireFormat, tools: unknown): ToolCalls | undefined {
  if (!isMembers(tools)) return undefined;
  let calls: Record<string, number> | undefined;
  for (const [name, value] of Object.entries(tools)) {
    const number = count(value);
    if (number === 0 || !name.endsWith(suffix)) continue;
    const type = hostedTypeOf(format, { type: name.slice(0, -suffix.length) });
    if (type === null || type === searchType) continue;
    calls ??= {};
    calls[type] = number;
  }
  return calls;
}
