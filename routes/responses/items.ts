// The items of a response: its input as it is stored and listed (what the client may write short is
// written out), and whole turns as the input of the next one.
import type { Turn } from '../../db/responses.ts';
import type { Answer } from '../../media/model/answer.ts';
import { itemId } from '../../media/model/dialects/responses/ids.ts';
import { declaredTools } from '../../media/model/dialects/responses/late-tools.ts';
import { namespacesOf } from '../../media/model/dialects/responses/namespaces.ts';
import { outputItems } from '../../media/model/dialects/responses/output.ts';
import { statusOf } from '../../media/model/dialects/responses/response.ts';
import type { Seals } from '../../media/model/seals.ts';

export type Item = Record<string, unknown>;

/** What the client runs; it answers under the same `call_id`. */
const clientCalls: ReadonlySet<unknown> = new Set([
  'apply_patch_call',
  'computer_call',
  'custom_tool_call',
  'function_call',
  'shell_call',
]);

/** Output items count from 0: input items of the same response stand far behind them. */
export const firstInputPlace = 0x10000;
const prefixes: Record<string, string> = {
  message: 'msg',
  function_call: 'fc',
  function_call_output: 'fco',
  reasoning: 'rs',
};

/** The items of a request body that has been read; `messages` is another name of its input. */
export function inputItems(body: { input?: unknown; messages?: unknown }): Item[] {
  const input = body.input ?? body.messages;
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
  return Array.isArray(input) ? (input as Item[]) : [];
}

/** An item as it is listed, with an id by its place where the client gave none. */
export function listedItem(requestId: string, item: Item, index: number): Item {
  const type = typeof item.type === 'string' ? item.type : 'message';
  const prefix = prefixes[type] ?? 'item';
  const id =
    typeof item.id === 'string' && item.id !== ''
      ? item.id
      : itemId(prefix, requestId, firstInputPlace + index);
  if (type !== 'message') return { ...item, type, id };
  return { ...item, type, id, status: item.status ?? 'completed', content: listedContent(item) };
}

function listedContent({ role, content }: Item): unknown {
  if (typeof content !== 'string') return content;
  return role === 'assistant'
    ? [{ type: 'output_text', annotations: [], text: content }]
    : [{ type: 'input_text', text: content }];
}

/**
 * All turns as items, with calls named as `tools` declare them, whatever family's model made them.
 * Calls that a cut answer left unanswered are not the model's any more.
 */
export function turnItems(
  turns: readonly Turn[],
  newItems: readonly Item[],
  seals: Seals,
  tools?: unknown,
): Item[] {
  const inputs = turns.map(({ inputJson }) => JSON.parse(inputJson) as Item[]);
  const input = [...inputs.flat(), ...newItems];
  const namespaces = namespacesOf(declaredTools({ body: { tools }, input }));
  const items: Item[] = [];
  const cutCalls = new Set<Item>();
  for (const [index, turn] of turns.entries()) {
    items.push(...(inputs[index] ?? []));
    if (turn.answerJson === null) continue;
    const answer = JSON.parse(turn.answerJson) as Answer;
    const { generationId: requestId } = turn;
    const options = { requestId, seals, lastStatus: 'completed', namespaces } as const;
    const output = outputItems(answer, options);
    items.push(...output);
    if (turn.status === 'completed' && statusOf(answer) === 'completed') continue;
    for (const item of output) if (clientCalls.has(item.type)) cutCalls.add(item);
  }
  if (cutCalls.size === 0) return items;
  const answered = new Set(
    [...items, ...newItems]
      .filter((item) => typeof item.type === 'string' && item.type.endsWith('_call_output'))
      .map((item) => item.call_id),
  );
  return items.filter((item) => !cutCalls.has(item) || answered.has(item.call_id));
}
