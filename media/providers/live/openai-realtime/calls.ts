// Tool calls of the running answer. The model goes on by itself only when it is asked to, once:
// after the last result, when no response runs and the user's speech does not cause one anyway.
import type { Members } from '../../../transport/members.ts';
import type { LiveEvent } from '../contract.ts';
import { dropOldest } from './answers.ts';
import { idOf } from './events.ts';

const keptMax = 256;
/** Calls that wait for their result; more of them have none. */
const openMax = 64;

export class ToolCalls {
  /** The user's own turn will make the server respond: from its begin to that response. */
  isUserTurn = false;
  /** An answer waits for the results of `#open`. */
  #isWaiting = false;
  /** A call of the answer can have no result. */
  #isRefused = false;
  /** What the server calls them, by our ids: ours differ when it gives one id to two calls. */
  readonly #open = new Map<string, string>();
  readonly #seen = new Set<string>();
  #count = 0;

  /** A whole call: its name is here in every version of the format, its arguments are complete. */
  read(item: Members, responseId: string): LiveEvent[] {
    const { name, arguments: argumentsJson } = item;
    if (typeof name !== 'string') return [];
    const callId = idOf(item.call_id);
    const itemId = idOf(item.id) ?? '';
    if (callId === null) return this.#refuse(`${responseId} ${itemId}`, itemId, name);
    if (this.#open.size >= openMax) return this.#refusedCall(name, 'too many function calls');
    // Some servers count the calls of each response by itself.
    const ownId = this.begin(`${responseId} ${itemId} ${callId}`, callId);
    if (ownId === null) return [];
    const given = typeof argumentsJson === 'string' ? argumentsJson : '{}';
    return [{ type: 'tool_call', callId: ownId, name, argumentsJson: given }];
  }

  /** What we call it; null: it was told before. */
  begin(key: string, callId: string): string | null {
    if (!this.#isNew(key)) return null;
    const ownId = this.#open.has(callId) ? this.#ownId() : callId;
    this.#open.set(ownId, callId);
    this.#isWaiting = true;
    return ownId;
  }

  /** What the server calls it; null: there is no such call, or it has its result. */
  end(ownId: string): string | null {
    const callId = this.#open.get(ownId) ?? null;
    this.#open.delete(ownId);
    return callId;
  }

  /**
   * The answer was interrupted: nobody finds out or waits for results any more. Returns what the
   * server calls the calls without one, so that it is told.
   */
  giveUp(): string[] {
    const callIds = [...this.#open.values()];
    this.#isWaiting = false;
    this.#isRefused = false;
    this.#open.clear();
    return callIds;
  }

  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** Whether the model is to be asked now; true once per answer. */
  takeTurn(isResponseRunning: boolean): boolean {
    if (!this.#isWaiting || this.#open.size > 0 || isResponseRunning) return false;
    this.#isWaiting = false;
    this.#isRefused = false;
    return !this.isUserTurn;
  }

  /** The answer ends, and what its model asked for can never come; true once. */
  takeRefusal(): boolean {
    const isRefused = this.#isRefused;
    this.#isRefused = false;
    return isRefused;
  }

  /** The server would not know what a result without an id is of. */
  #refuse(key: string, itemId: string, name: string): LiveEvent[] {
    if (itemId !== '' && !this.#isNew(key)) return [];
    return this.#refusedCall(name, 'a function call without an id');
  }

  #refusedCall(name: string, text: string): LiveEvent[] {
    this.#isRefused = true;
    return [
      { type: 'tool_refused', callId: this.#ownId(), name },
      { type: 'problem', code: 'call_refused', text },
    ];
  }

  #isNew(key: string): boolean {
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    dropOldest(this.#seen, keptMax);
    return true;
  }

  #ownId(): string {
    do this.#count += 1;
    while (this.#open.has(`call_${this.#count}`));
    return `call_${this.#count}`;
  }
}
