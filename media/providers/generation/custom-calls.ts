// Calls of custom tools that a provider was told of as functions: told back as what they are, with
// the bare text. Providers that have such tools say themselves that a call is of one.
import { CustomInput, customNames } from '../../model/custom-tools.ts';
import type { ModelEvent } from '../../model/events.ts';
import type { GenerationRequest } from '../../model/request.ts';

/** Null: the request has no custom tools. */
export function customCallsOf(request: GenerationRequest): CustomCalls | null {
  const names = customNames(request);
  return names === null ? null : new CustomCalls(names);
}

export class CustomCalls {
  readonly #names: ReadonlySet<string>;
  readonly #inputs = new Map<number, CustomInput>();

  /** `names`: of the custom tools of the request. */
  constructor(names: ReadonlySet<string>) {
    this.#names = names;
  }

  /** The next events, as a client of such tools is told them. */
  keep(events: readonly ModelEvent[]): ModelEvent[] {
    const kept: ModelEvent[] = [];
    for (const event of events) {
      switch (event.type) {
        case 'tool_call':
          kept.push(this.#call(event));
          break;
        case 'tool_arguments':
          this.#arguments(event, kept);
          break;
        case 'finish':
          this.#end(event.reason === 'tool_calls', kept);
          kept.push(event);
          break;
        default:
          kept.push(event);
      }
    }
    return kept;
  }

  #call(event: ModelEvent & { type: 'tool_call' }): ModelEvent {
    if (event.freeText === true || !this.#names.has(event.name)) return event;
    this.#inputs.set(event.index, new CustomInput());
    return { ...event, freeText: true };
  }

  #arguments(event: ModelEvent & { type: 'tool_arguments' }, kept: ModelEvent[]): void {
    const input = this.#inputs.get(event.index);
    if (input === undefined) {
      kept.push(event);
      return;
    }
    if (input.isWhole) return;
    const { index } = event;
    const text = input.add(event.text);
    if (text !== '') kept.push({ type: 'tool_arguments', index, text });
    if (input.isWhole) kept.push({ type: 'tool_end', index });
  }

  /** `isWhole`: the answer was not cut, and with it the last text. */
  #end(isWhole: boolean, kept: ModelEvent[]): void {
    for (const [index, input] of this.#inputs) {
      if (input.isWhole) continue;
      const text = input.end();
      if (text !== '') kept.push({ type: 'tool_arguments', index, text });
      if (isWhole) kept.push({ type: 'tool_end', index });
    }
  }
}
