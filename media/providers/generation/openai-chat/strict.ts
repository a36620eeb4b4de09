// Bodies for servers that refuse what they do not know, and for Mistral's models. Those insist on
// an order of roles as well (mistral-common, `validator.py`).
import { isMembers, type Members } from '../../../transport/members.ts';
import type { UpstreamTarget } from '../contract.ts';
import { isStrict } from '../members.ts';
import { standIns } from '../turns.ts';
import { isMistral } from './model.ts';

const messageMembers: ReadonlySet<string> = new Set([
  'content',
  'prefix',
  'role',
  'tool_call_id',
  'tool_calls',
]);

/** Changes a body that is to be sent. `reasons`: the model is known to reason. */
export function withinRules(body: Members, target: UpstreamTarget, reasons: boolean): void {
  const ofMistral = isMistral(target.upstreamModel);
  const strict = isStrict(target);
  if ((!ofMistral && !strict) || !Array.isArray(body.messages)) return;
  const messages = body.messages.filter(isMembers);
  const thinks = ofMistral && reasons;
  const known = strict ? messages.map((message) => knownOf(message, thinks)) : messages;
  body.messages = ofMistral ? inOrder(known) : known;
  if (!strict) return;
  delete body.logprobs;
  delete body.top_logprobs;
  if (!ofMistral) return;
  // It reports usage unasked, and calls the seed otherwise.
  delete body.stream_options;
  if (body.seed !== undefined) body.random_seed ??= body.seed;
  delete body.seed;
  const last = (body.messages as Members[]).at(-1);
  if (last?.role === 'assistant' && last.tool_calls === undefined) last.prefix = true;
}

/** What it knows of a message. `thinks`: it takes thoughts as a part of the content. */
function knownOf(message: Members, thinks: boolean): Members {
  const known: Members = {};
  for (const name of Object.keys(message)) {
    const value = message[name];
    const isSaid = name === 'content' || (value !== null && value !== undefined);
    if (messageMembers.has(name) && isSaid) known[name] = value;
  }
  const { role, content, reasoning_content: shown } = message;
  if (!thinks || role !== 'assistant' || typeof shown !== 'string' || shown === '') return known;
  if (Array.isArray(content)) return known;
  const thought = { type: 'thinking', thinking: [{ type: 'text', text: shown }] };
  const words = (content ?? '') === '' ? [] : [{ type: 'text', text: content }];
  return { ...known, content: [thought, ...words] };
}

/** Behind results it wants the model's own words, and then the user's. */
function inOrder(messages: readonly Members[]): Members[] {
  return messages.flatMap((message, index) => {
    const isBehind = messages[index - 1]?.role === 'tool';
    const goesOn = message.role === 'tool' || message.role === 'assistant';
    if (!isBehind || goesOn) return [message];
    return [{ role: 'assistant', content: standIns.resultsRead }, message];
  });
}
