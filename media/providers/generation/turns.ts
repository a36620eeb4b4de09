// A conversation in turns: what was said, and the results of its calls right behind it, as all
// formats but Responses insist on. There a result may stand anywhere behind its call.
import { addTo } from '../../model/lists.ts';
import type { ContentPart, Message } from '../../model/request.ts';

/** What stands where a provider insists on words and a client has sent none. */
export const standIns = {
  beginning: '(The conversation begins with your own words.)',
  noResult: '(This call was not answered.)',
  // Such a turn left out, the model would go on with its own last words.
  noWords: '(An empty message.)',
  resultsRead: '(I have read the results.)',
};

const failed = '(This call failed.)';

export interface Turn {
  /** A result too, where no call before it is open. */
  message: Message;
  /** Of the message's calls, at most one for each. */
  results: Message[];
}

/** Of calls with the same id the newest is answered: clients use ids again in later turns. */
export function turnsOf(messages: readonly Message[]): Turn[] {
  const turns: Turn[] = [];
  const grown = new Set<Turn>();
  const unanswered = new Map<string, Turn[]>();
  let before: Message | null = null;
  for (const message of messages) {
    const { role, toolCallId } = message;
    const asked = role === 'tool' ? unanswered.get(toolCallId ?? '')?.pop() : undefined;
    if (asked === undefined) {
      const turn = turnFor(message, before, turns, grown);
      for (const { id } of message.toolCalls) {
        const open = unanswered.get(id);
        if (open === undefined) unanswered.set(id, [turn]);
        else open.push(turn);
      }
    } else asked.results.push(message);
    before = message;
  }
  return turns;
}

/**
 * What the model said behind its own calls belongs to their turn: results come after all of it.
 * `grown`: turns whose message is a copy already, to which more is added.
 */
function turnFor(message: Message, before: Message | null, turns: Turn[], grown: Set<Turn>): Turn {
  const last = turns.at(-1);
  const goesOn = message.role === 'assistant' && before?.role === 'assistant';
  if (last === undefined || !goesOn || last.message.toolCalls.length === 0) {
    const turn: Turn = { message, results: [] };
    turns.push(turn);
    return turn;
  }
  if (!grown.has(last)) {
    const { parts, toolCalls, returned } = last.message;
    last.message = { ...last.message, parts: [...parts], toolCalls: [...toolCalls] };
    if (returned !== undefined) last.message.returned = [...returned];
    grown.add(last);
  }
  if (message.returned !== undefined) {
    last.message.returned ??= [];
    addTo(last.message.returned, message.returned);
  }
  addTo(last.message.parts, message.parts);
  addTo(last.message.toolCalls, message.toolCalls);
  return last;
}

/** A result for formats that have no member for its failure: the words say it. */
export function wordedResult({ parts, toolFailed }: Message): readonly ContentPart[] {
  if (toolFailed !== true) return parts;
  const [first, ...others] = parts;
  if (first?.type !== 'text') return [{ type: 'text', text: failed }, ...parts];
  return [{ ...first, text: `${failed}\n${first.text}` }, ...others];
}
