// Renders a plan as Chat Completions chunks, event by event: role, reasoning, pieces or tool calls,
// finish, usage, [DONE]. The parts of a chunk that never change are built once per stream.
import { argumentFragments, type Plan } from '../answer.ts';
import type { Script } from '../player.ts';
import { fixed, joinSegments, type Segment } from '../segments.ts';
import { unknownTail } from '../unknown.ts';
import { streamErrorEvent } from './failure.ts';
import type { ChatRequest } from './request.ts';
import { type ChatIdentity, fingerprint, finishReason, usageMembers } from './whole.ts';

const unscored = '"logprobs":null,"finish_reason":';
const padding = 'zqWm4TgLr0VbnXkS9dHcYpJf';

export function chatScript(request: ChatRequest, identity: ChatIdentity): Script {
  const stream = joinSegments(segmentsOf(request, identity));
  return {
    headers: [
      ['content-type', 'text/event-stream; charset=utf-8'],
      ['cache-control', 'no-cache'],
      ['x-request-id', identity.requestId],
      ['openai-processing-ms', '1'],
      ['openai-version', '2020-10-01'],
    ],
    count: stream.count,
    pacedCount: stream.count - 1,
    event: stream.event,
    errorEvent: () => streamErrorEvent,
    garbageEvent: 'data: {"id":"chatcmpl-garbage","choices":[{"delta":{"con\n\n',
  };
}

function segmentsOf(request: ChatRequest, identity: ChatIdentity): Segment[] {
  const { plan } = request;
  const head = headOf(request, identity);
  const chunk = chunkWriter(request, head);
  const word = plan.end === 'refusal' ? 'refusal' : 'content';
  const calls = toolDeltas(plan, identity);
  const usage = `${head}"choices":[],"usage":${JSON.stringify(usageMembers(plan.usage))}}\n\n`;
  return [
    { count: 1, event: () => chunk(0, roleDelta(plan), 'null') },
    { count: request.directive.unknown ? 1 : 0, event: () => strangeEvents(head) },
    {
      count: plan.reasoningCount,
      event: (offset, index) => chunk(index, `{"reasoning_content":" r${offset}"}`, 'null'),
    },
    {
      count: plan.pieceCount,
      event: (offset, index) =>
        chunk(index, `{"${word}":${JSON.stringify(plan.piece(offset))}}`, 'null'),
    },
    {
      count: calls.length,
      event: (offset, index) => chunk(index, calls[offset] ?? '{}', 'null'),
    },
    { count: 1, event: (_, index) => chunk(index, '{}', `"${finishReason(plan)}"`) },
    fixed(...(request.includeUsage ? [usage] : []), 'data: [DONE]\n\n'),
  ];
}

function headOf(request: ChatRequest, identity: ChatIdentity): string {
  const members = JSON.stringify({
    id: identity.id,
    object: 'chat.completion.chunk',
    created: identity.createdAt,
    model: request.model,
    service_tier: 'default',
    system_fingerprint: fingerprint,
  });
  return `data: ${members.slice(0, -1)},`;
}

type ChunkWriter = (index: number, delta: string, reason: string) => string;

function chunkWriter(request: ChatRequest, head: string): ChunkWriter {
  const strange = request.directive.unknown ? unknownTail : '';
  const usageNull = (request.includeUsage ? ',"usage":null' : '') + strange;
  const tail = (index: number) => {
    if (!request.obfuscate) return `${usageNull}}\n\n`;
    const filling = padding.slice(0, 1 + (index % padding.length));
    return `${usageNull},"obfuscation":"${filling}"}\n\n`;
  };
  const open = `${head}"choices":[{"index":0${strange},"delta":`;
  return (index, delta, reason) => `${open}${delta},${unscored}${reason}}]${tail(index)}`;
}

/** A comment, an event type of its own, and a chunk without choices, as some hosts send them. */
function strangeEvents(head: string): string {
  const filters = '"choices":[],"prompt_filter_results":[{"prompt_index":0}]';
  return `: SIMULATED COMMENT\n\nevent: sim.unknown\n${head}${filters}${unknownTail}}\n\n`;
}

function roleDelta(plan: Plan): string {
  const silent = plan.calls.length > 0 || plan.end === 'refusal';
  return `{"role":"assistant","content":${silent ? 'null' : '""'},"refusal":null}`;
}

/** Name and id first, then the arguments in fragments, call after call. */
function toolDeltas(plan: Plan, identity: ChatIdentity): string[] {
  return plan.calls.flatMap((call, index) => {
    const called = { name: call.name, arguments: '' };
    const opened = { index, id: identity.callId(index), type: 'function', function: called };
    const fragments = argumentFragments(call).map((fragment) => {
      const text = JSON.stringify(fragment);
      return `{"tool_calls":[{"index":${index},"function":{"arguments":${text}}}]}`;
    });
    return [JSON.stringify({ tool_calls: [opened] }), ...fragments];
  });
}
