// Calls as they were before there were tools: a client that declares `functions` reads and writes
// `function_call`, of which an answer has one, without an id.
import type { ToolCall } from '../../answer-item.ts';
import type { NativeValue } from '../../events.ts';

/** Whether the client knows no tools. */
export function knowsFunctions({ functions, tools }: Record<string, unknown>): boolean {
  return (functions ?? null) !== null && (tools ?? null) === null;
}

/**
 * A call as a client that knows tools is shown it, with what only its own format has of it. There
 * stood until lately that a call is of a custom tool.
 */
export function toolCall({
  id,
  name,
  arguments: text,
  native,
  freeText,
}: ToolCall & {
  native?: NativeValue | undefined;
  freeText?: true | undefined;
}): Record<string, unknown> {
  const own = native?.format === 'chat' ? native.value : {};
  if (freeText === true || own.type === 'custom') {
    return { id, ...own, type: 'custom', custom: { name, input: text } };
  }
  const called = { name, arguments: text, ...Object(own.function) };
  return { id, type: 'function', ...own, function: called };
}

/** Ids for calls that have none: a result belongs to the last call of its name. */
export class FunctionIds {
  readonly #last = new Map<string, string>();

  asked(name: string, index: number): string {
    const id = `call_${index}`;
    this.#last.set(name, id);
    return id;
  }

  answered(name: string, index: number): string {
    return this.#last.get(name) ?? `call_${index}`;
  }
}
