// What a client does to the conversation of a Realtime session: items made, shown, removed, cut.
import { type Members, membersOf } from '../members.ts';
import { audioTokensOf } from '../voice/tokens.ts';
import {
  badTruncation,
  invalidValue,
  noSuchItem,
  notTruncatable,
  type RealtimeError,
} from './failure.ts';
import { type Conversation, type Item, readItem, textOf } from './items.ts';
import type { Outlet } from './outlet.ts';

export interface EditedSession {
  readonly outlet: Outlet;
  readonly conversation: Conversation;
  /** Every truncation is refused. */
  readonly rejectsTruncation: boolean;
  /** Audio of an item that is still being sent; null: it is not. */
  sendingMsOf(item: Item): number | null;
  direct(text: string): void;
  truncation: Members | null;
}

export function announceItem(outlet: Outlet, item: Item, before: string | null): void {
  const members = { previous_item_id: before, item: item.body };
  outlet.emit('conversation.item.added', members);
  outlet.emit('conversation.item.done', members);
}

export function createItem(session: EditedSession, event: Members): RealtimeError | null {
  const { conversation, outlet } = session;
  const item = readItem(event.item, () => outlet.freshId('item'), conversation);
  if ('error' in item) return item.error;
  const { previous_item_id: after } = event;
  const before = conversation.add(item, typeof after === 'string' ? after : null);
  if (before === undefined) return invalidValue('previous_item_id', 'the id of an item');
  if (item.body.type === 'message') session.direct(textOf(membersOf(item.body.content)));
  announceItem(outlet, item, before);
  return null;
}

export function retrieveItem(session: EditedSession, { item_id: id }: Members) {
  const item = session.conversation.find(id);
  if (item === null) return noSuchItem('retrieve', String(id));
  session.outlet.emit('conversation.item.retrieved', { item: item.body });
  return null;
}

export function deleteItem(session: EditedSession, { item_id: id }: Members) {
  if (!session.conversation.remove(id)) return noSuchItem('delete', String(id));
  session.outlet.emit('conversation.item.deleted', { item_id: id });
  return null;
}

export function truncateItem(session: EditedSession, event: Members): RealtimeError | null {
  const { item_id: id, audio_end_ms: endMs } = event;
  const refusal = truncated(session, event);
  session.truncation = { item_id: id, audio_end_ms: endMs, accepted: refusal === null };
  return refusal;
}

function truncated(session: EditedSession, event: Members): RealtimeError | null {
  const { item_id: id, content_index: index, audio_end_ms: endMs } = event;
  const item = session.conversation.find(id);
  if (item === null) return noSuchItem('truncate', String(id));
  const actualMs = session.sendingMsOf(item) ?? item.audioMs;
  if (actualMs === null) return notTruncatable;
  if (index !== 0) return invalidValue('content_index', '0');
  if (typeof endMs !== 'number' || !Number.isInteger(endMs)) {
    return invalidValue('audio_end_ms', 'an integer');
  }
  if (session.rejectsTruncation || endMs <= 0 || endMs > actualMs) {
    return badTruncation(actualMs, endMs);
  }
  item.audioMs = endMs;
  item.audioTokens = audioTokensOf(endMs);
  item.textTokens = 0;
  item.body.content = [{ type: 'output_audio' }];
  const members = { item_id: id, content_index: 0, audio_end_ms: endMs };
  session.outlet.emit('conversation.item.truncated', members);
  return null;
}
