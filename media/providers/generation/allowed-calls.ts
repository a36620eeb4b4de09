// A client that lists the tools that may be called is told no call of another. Models of other
// formats are offered no others, servers of the same format get the list and may not keep to it.
import { flatName } from '../../model/dialects/responses/namespaces.ts';
import type { ModelEvent } from '../../model/events.ts';
import type { GenerationRequest } from '../../model/request.ts';
import { isMembers, type Members } from '../../transport/members.ts';

/** The names that calls may have; null: the request lists none. */
export function allowedNames(
  request: Pick<GenerationRequest, 'source' | 'tools' | 'nativeTools'>,
): ReadonlySet<string> | null {
  const { source, tools, nativeTools } = request;
  const choice = source.body.tool_choice;
  if (!isMembers(choice) || choice.type !== 'allowed_tools') return null;
  const names = new Set<string>();
  if (source.format === 'chat') {
    const list = isMembers(choice.allowed_tools) ? choice.allowed_tools.tools : null;
    for (const entry of Array.isArray(list) ? list : []) {
      if (!isMembers(entry)) continue;
      addName(names, entry.function);
      addName(names, entry.custom);
    }
    return names;
  }
  // Who reads a request has left out what is not on its list.
  for (const { name } of tools) names.add(name);
  for (const { value } of nativeTools) addName(names, value);
  return names;
}

function addName(names: Set<string>, declared: unknown): void {
  if (isMembers(declared) && typeof declared.name === 'string') names.add(declared.name);
}

/** Native items by which the model waits for its client. */
const clientCalls: ReadonlySet<unknown> = new Set([
  'apply_patch_call',
  'computer_call',
  'custom_tool_call',
  'function_call',
  'local_shell_call',
  'mcp_approval_request',
  'shell_call',
]);

/** Leaves out calls that are not allowed. Without one that is left the answer has ended. */
export class AllowedCalls {
  readonly #names: ReadonlySet<string>;
  /** The calls that are told, by their number: they are counted without gaps. */
  readonly #told = new Map<number, number>();
  readonly #left = new Set<number>();
  readonly #leftNatives = new Set<number>();
  #isAwaited = false;

  constructor(names: ReadonlySet<string>) {
    this.#names = names;
  }

  keep(events: readonly ModelEvent[]): ModelEvent[] {
    const kept: ModelEvent[] = [];
    for (const event of events) {
      const told = this.#keptOf(event);
      if (told !== null) kept.push(told);
    }
    return kept;
  }

  #keptOf(event: ModelEvent): ModelEvent | null {
    switch (event.type) {
      case 'tool_call': {
        if (!this.#names.has(event.name)) {
          this.#left.add(event.index);
          return null;
        }
        this.#isAwaited = true;
        const index = this.#told.size;
        this.#told.set(event.index, index);
        return { ...event, index };
      }
      case 'tool_arguments':
      case 'tool_end':
        if (this.#left.has(event.index)) return null;
        return { ...event, index: this.#told.get(event.index) ?? event.index };
      case 'native_begin':
      case 'native':
        return this.#keepsNative(event.value, event.index) ? event : null;
      case 'native_event':
        return this.#leftNatives.has(event.index) ? null : event;
      case 'finish':
        return this.#ended(event);
      default:
        return event;
    }
  }

  #keepsNative(value: Members, index: number | undefined): boolean {
    if (index !== undefined && this.#leftNatives.has(index)) return false;
    if (!clientCalls.has(value.type)) return true;
    if (this.#mayBeCalled(value)) {
      this.#isAwaited = true;
      return true;
    }
    this.#leftNatives.add(index ?? -1);
    return false;
  }

  /** A call without a name is that of a tool that has none: its provider keeps to the list. */
  #mayBeCalled({ name, namespace, type }: Members): boolean {
    if (type !== 'function_call' && type !== 'custom_tool_call') return true;
    if (typeof name !== 'string') return false;
    if (typeof namespace !== 'string' || namespace === '') return this.#names.has(name);
    return this.#names.has(flatName(namespace, name)) || this.#names.has(namespace);
  }

  #ended(event: ModelEvent & { type: 'finish' }): ModelEvent {
    const hasLeft = this.#left.size + this.#leftNatives.size > 0;
    const isOver = event.reason === 'tool_calls' && hasLeft && !this.#isAwaited;
    return isOver ? { ...event, reason: 'stop' } : event;
  }
}
