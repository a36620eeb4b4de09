// functionCall parts → neutral calls. Each part is a whole call; its id is given by newer models
// only, and the signature of the thoughts before it travels in the id (`call-ids.ts`).
import type { ModelEvent } from '../../../model/events.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import { signCallId } from '../call-ids.ts';

export interface ToolCallState {
  count: number;
  /** Ids that were given out, without signatures. */
  ids: Set<string>;
}

/** What all formats take as an id. */
const validId = /^[A-Za-z0-9_-]{1,64}$/;

export function emptyToolCalls(): ToolCallState {
  return { count: 0, ids: new Set() };
}

/** Reads a part with a functionCall. `newId` makes an id that no other answer has. */
export function readFunctionCall(
  state: ToolCallState,
  part: Members,
  newId: () => string,
  events: ModelEvent[],
): void {
  const { functionCall: called, thoughtSignature } = part;
  if (!isMembers(called) || typeof called.name !== 'string') return;
  const isGiven = typeof called.id === 'string' && validId.test(called.id);
  const given = isGiven ? String(called.id) : '';
  const id = isGiven && !state.ids.has(given) ? given : `${newId()}${state.count}`;
  state.ids.add(id);
  const signature = typeof thoughtSignature === 'string' ? thoughtSignature : null;
  const index = state.count;
  state.count += 1;
  events.push({ type: 'tool_call', index, id: signCallId({ id, signature }), name: called.name });
  const values = isMembers(called.args) ? called.args : {};
  events.push({ type: 'tool_arguments', index, text: JSON.stringify(values) });
}
