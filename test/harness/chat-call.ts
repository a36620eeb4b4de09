// Calls of the Chat family through an upstream client, and what is told of them.
import assert from 'node:assert/strict';
import type { ModelEvent, UpstreamFailure } from '../../media/model/events.ts';
import type { UpstreamClient } from '../../media/providers/generation/call.ts';
import type {
  UpstreamDeadlines,
  UpstreamHandle,
} from '../../media/providers/generation/contract.ts';
import { openaiChat } from '../../media/providers/generation/openai-chat/family.ts';
import { chatSource, neutralRequest } from './request.ts';

const generous: UpstreamDeadlines = {
  queueMs: 60_000,
  connectMs: 60_000,
  firstEventMs: 60_000,
  idleMs: 60_000,
  totalMs: 60_000,
};

export interface Outcome {
  events: ModelEvent[];
  batches: number;
  failure: UpstreamFailure | null;
}

export interface Running {
  handle: UpstreamHandle;
  events: ModelEvent[];
  done: Promise<Outcome>;
}

/** Starts a call whose user says `text`; a listener that is told too much rejects it. */
export function startChatCall(
  client: UpstreamClient,
  text: string,
  deadlines: Partial<UpstreamDeadlines>,
  baseUrl: string,
): Running {
  const body = { messages: [{ role: 'user', content: text }] };
  const request = neutralRequest({ source: chatSource(body) });
  const target = {
    routeId: 'r',
    family: 'openai-chat',
    baseUrl,
    apiKey: 'k',
    upstreamModel: 'simulated-chat-large-2026-01-15',
  };
  const call = openaiChat.encodeRequest(request, target, {
    outputTokensMax: 100_000,
    nativeSearch: false,
  });
  const events: ModelEvent[] = [];
  let batches = 0;
  let handle: UpstreamHandle | null = null;
  const done = new Promise<Outcome>((resolve, reject) => {
    let endings = 0;
    handle = client.start(
      openaiChat,
      call,
      { ...generous, ...deadlines },
      {
        events: (batch) => {
          if (endings > 0) reject(new Error('events after the end'));
          batches += 1;
          events.push(...batch);
        },
        ended: (failure) => {
          endings += 1;
          if (endings > 1) reject(new Error('ended twice'));
          resolve({ events, batches, failure });
        },
      },
    );
  });
  return { handle: handle ?? assert.fail('no handle'), events, done };
}

export function textOf(events: readonly ModelEvent[]): string {
  return events.map((event) => (event.type === 'text' ? event.text : '')).join('');
}

export async function eventually(check: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await check())) {
    assert.ok(performance.now() < deadline, what);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
