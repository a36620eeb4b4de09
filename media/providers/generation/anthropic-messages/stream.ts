// The reducer of a Messages stream: (state, event) → neutral events. It changes the state it is
// given and nothing else; bytes and lines are the reader's work. Usage is told once, at the end:
// what the first event says of the output is a beginning, and must never be charged as a total.
import type { ModelEvent } from '../../../model/events.ts';
import { isMembers, type Members, wordOf } from '../../../transport/members.ts';
import { plainFailure } from '../../../transport/refusal.ts';
import type { ClientFormat } from '../contract.ts';
import { isEnding, meaningOf } from '../endings.ts';
import {
  type BlockState,
  deltaBlock,
  emptyBlocks,
  startBlock,
  stopBlock,
  stopBlocks,
} from './blocks.ts';
import { streamFailure } from './failure.ts';
import { finishEvent } from './finish.ts';
import { ownEnd, ownStart } from './passthrough.ts';
import { mergeUsage, readUsage } from './usage.ts';

export interface MessagesStreamState {
  started: boolean;
  /** The reason of the end was read: what follows adds nothing to the answer. */
  finished: boolean;
  failed: boolean;
  blocks: BlockState;
  /** Members of both reports of usage. */
  usage: Members | null;
}

/** `clientFormat`: whose answer it is. One of this format is told all that it can show. */
export function emptyMessagesStream(clientFormat?: ClientFormat): MessagesStreamState {
  return {
    started: false,
    finished: false,
    failed: false,
    blocks: emptyBlocks(clientFormat === 'messages'),
    usage: null,
  };
}

/** The text of an event that means one text delta and nothing else, whatever it stands in. */
export function soleText(event: unknown): string | null {
  if (!isMembers(event) || event.type !== 'content_block_delta') return null;
  const { delta } = event;
  if (!isMembers(delta) || delta.type !== 'text_delta') return null;
  return typeof delta.text === 'string' && delta.text !== '' ? delta.text : null;
}

/** Whether a delta of this event goes to a block of text that is open. */
export function isTextBlock(state: MessagesStreamState, event: unknown): boolean {
  return isMembers(event) && state.blocks.open.get(event.index)?.kind === 'text';
}

/** Reads one parsed event. Unknown ones mean nothing. */
export function readEvent(state: MessagesStreamState, event: unknown): ModelEvent[] {
  const events: ModelEvent[] = [];
  if (!isMembers(event)) return events;
  switch (event.type) {
    case 'message_start':
      begin(state, isMembers(event.message) ? event.message : {}, events);
      break;
    case 'content_block_start':
      begin(state, {}, events);
      startBlock(state.blocks, event.index, event.content_block, events);
      break;
    case 'content_block_delta':
      deltaBlock(state.blocks, event.index, event.delta, events);
      break;
    case 'content_block_stop':
      stopBlock(state.blocks, event.index, events);
      break;
    case 'message_delta':
      begin(state, {}, events);
      state.usage = mergeUsage(state.usage, event.usage);
      end(state, isMembers(event.delta) ? event.delta : {}, event, events);
      break;
    case 'error':
      state.failed = true;
      events.push({ type: 'failure', failure: streamFailure(event) });
      break;
    default:
      break;
  }
  return events;
}

/** A whole message, from a server that ignored `stream`. */
export function readMessage(state: MessagesStreamState, message: Members): ModelEvent[] {
  const events: ModelEvent[] = [];
  if (message.type === 'error') return readEvent(state, message);
  if (!Array.isArray(message.content)) return events;
  begin(state, message, events);
  for (const [index, block] of message.content.entries()) {
    startBlock(state.blocks, index, block, events);
    for (const citation of citationsOf(block)) {
      deltaBlock(state.blocks, index, { type: 'citations_delta', citation }, events);
    }
    stopBlock(state.blocks, index, events);
  }
  end(state, message, message, events);
  return events;
}

/** What the end of the stream still has to say when the last events were left out. */
export function endOfAnswer(state: MessagesStreamState): ModelEvent[] {
  const events: ModelEvent[] = [];
  if (state.finished) return events;
  state.finished = true;
  stopBlocks(state.blocks, events);
  events.push({ type: 'finish', reason: state.blocks.toolCount > 0 ? 'tool_calls' : 'stop' });
  return events;
}

/** `message`: as it is announced, or the whole of it. */
function begin(state: MessagesStreamState, message: Members, events: ModelEvent[]): void {
  if (state.started) return;
  state.started = true;
  state.usage = mergeUsage(state.usage, message.usage);
  const usage = readUsage(state.usage);
  const event: ModelEvent = usage === null ? { type: 'start' } : { type: 'start', usage };
  const native = state.blocks.own ? ownStart(message) : null;
  events.push(native === null ? event : { ...event, native });
}

/** `told`: what `stop` stands in. Usage is told only where it has some, maybe after the reason. */
function end(state: MessagesStreamState, stop: Members, told: Members, events: ModelEvent[]): void {
  if (!state.finished && isEnding(stop.stop_reason)) {
    const { own, toolCount, answered } = state.blocks;
    const called = toolCount > 0;
    const reason = meaningOf(stop.stop_reason, { called, answered: answered || called });
    if (reason === 'failed') {
      state.failed = true;
      const failure = plainFailure('cut', `the answer ended with ${wordOf(stop.stop_reason)}`);
      events.push({ type: 'failure', failure });
      return;
    }
    stopBlocks(state.blocks, events);
    state.finished = true;
    events.push(finishEvent(stop, own ? ownEnd(told) : {}, reason));
  }
  const usage = isMembers(told.usage) ? readUsage(state.usage) : null;
  if (usage !== null) events.push({ type: 'usage', usage });
}

function citationsOf(block: unknown): unknown[] {
  return isMembers(block) && Array.isArray(block.citations) ? block.citations : [];
}
