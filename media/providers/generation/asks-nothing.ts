// Values of members that say nothing, or what would be without them.
import { isMembers } from '../../transport/members.ts';

const usual: ReadonlySet<unknown> = new Set([
  false,
  0,
  '',
  'auto',
  'default',
  'disabled',
  'medium',
]);

/** Where another value is the usual one, and those above are wishes. */
const usualOf: Readonly<Record<string, unknown>> = {
  parallel_tool_calls: true,
  repetition_penalty: 1,
  seed: null,
  temperature: 1,
  top_p: 1,
};

/** Whether a member with this value asks for nothing: it is as good as absent. */
export function asksNothing(name: string, value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (Object.hasOwn(usualOf, name)) return usualOf[name] === value;
  if (usual.has(value)) return true;
  if (isMembers(value)) return Object.keys(value).length === 0;
  return Array.isArray(value) && value.length === 0;
}
