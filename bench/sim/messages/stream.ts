// Renders a plan as Messages events: message_start, ping, blocks one after the other, message_delta
// with cumulative usage, message_stop. What never changes in a delta is built once per stream.
import { argumentFragments } from '../answer.ts';
import type { Script } from '../player.ts';
import { fixed, joinSegments, type Segment } from '../segments.ts';
import { unknownMembers, unknownTail } from '../unknown.ts';
import { streamErrorEvent } from './failure.ts';
import type { MessagesRequest } from './request.ts';
import {
  callBlock,
  citationsOf,
  fullUsage,
  inputUsage,
  type MessagesIdentity,
  openMessage,
  outputUsage,
  searchCall,
  searchResults,
  stopMembers,
  thinkingBlock,
  unknownBlock,
} from './whole.ts';

type Members = Readonly<Record<string, unknown>>;

const ping = 'event: ping\ndata: {"type": "ping"}\n\n';

export function messagesScript(request: MessagesRequest, identity: MessagesIdentity): Script {
  const stream = joinSegments(segmentsOf(request, identity));
  return {
    headers: [
      ['content-type', 'text/event-stream; charset=utf-8'],
      ['cache-control', 'no-cache'],
      ['request-id', identity.requestId],
      ['anthropic-ratelimit-requests-limit', '4000'],
      ['anthropic-ratelimit-requests-remaining', '3999'],
    ],
    count: stream.count,
    pacedCount: stream.count - 1,
    event: stream.event,
    errorEvent: () => streamErrorEvent(identity.requestId),
    garbageEvent: 'event: content_block_delta\ndata: {"type":"content_block_delta","ind\n\n',
  };
}

function segmentsOf(request: MessagesRequest, identity: MessagesIdentity): Segment[] {
  const { plan, directive } = request;
  const extra: Members = directive.unknown ? unknownMembers : {};
  const event = (type: string, members: Members) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...members, ...extra })}\n\n`;
  const blocks = blocksOf(request, identity).flatMap((block, index) => {
    const begin = event('content_block_start', { index, content_block: block.start });
    // The provider's first ping comes after the first block has begun.
    const opening = index === 0 ? fixed(begin, ping) : fixed(begin);
    const deltas = block.deltas.map((run) => runOf(run, index, directive.unknown));
    return [opening, ...deltas, fixed(event('content_block_stop', { index }))];
  });
  const strange = fixed(event('sim_unknown_event', { sim_index: 0 }));
  const opened = { ...openMessage(request, identity), ...startUsage(request) };
  return [
    fixed(event('message_start', { message: opened })),
    ...(directive.unknown ? [strange] : []),
    ...(blocks.length === 0 ? [fixed(ping)] : blocks),
    fixed(
      event('message_delta', {
        delta: { ...stopMembers(plan), container: null },
        ...endUsage(request),
      }),
      event('message_stop', {}),
    ),
  ];
}

/** Output is a token or so when the message begins. */
function startUsage({ plan, directive }: MessagesRequest): Members {
  if (directive.fault === 'no_usage') return {};
  const outputTokens = Math.min(1, plan.usage.outputTokens);
  const begun = { ...plan, searchCount: 0 };
  const usage = fullUsage(begun, plan.usage, outputTokens);
  return { usage: { ...usage, output_tokens_details: null } };
}

function endUsage({ plan, directive, usageOnce }: MessagesRequest): Members {
  if (directive.fault === 'no_usage') return {};
  const plain = plan.searchCount === 0 && plan.reasoningCount === 0;
  if (usageOnce && plain) return { usage: { output_tokens: plan.usage.outputTokens } };
  return { usage: { ...inputUsage(plan.usage), ...outputUsage(plan) } };
}

/** A run of deltas of one type, whose one changing member is a string. */
interface Run {
  type: string;
  member: string;
  count: number;
  text(offset: number): string;
}

interface StreamedBlock {
  start: Members;
  deltas: (Run | Segment)[];
}

function runOf(run: Run | Segment, index: number, unknown: boolean): Segment {
  if ('event' in run) return run;
  const type = 'content_block_delta';
  const strange = unknown ? unknownTail : '';
  const delta = `"delta":{"type":"${run.type}","${run.member}":`;
  const head = `event: ${type}\ndata: {"type":"${type}","index":${index},${delta}`;
  const tail = `${strange}}${strange}}\n\n`;
  const { text } = run;
  return { count: run.count, event: (offset) => head + JSON.stringify(text(offset)) + tail };
}

function blocksOf(request: MessagesRequest, identity: MessagesIdentity): StreamedBlock[] {
  const { plan, directive } = request;
  const blocks: StreamedBlock[] = [];
  if (plan.reasoningCount > 0) blocks.push(thinkingStream(request));
  for (let index = 0; index < plan.searchCount; index += 1) {
    const call = searchCall(request, identity, index);
    const fragments = [
      '',
      ...argumentFragments({ name: '', argumentText: JSON.stringify(call.input) }),
    ];
    blocks.push({ start: { ...call, input: {} }, deltas: [inputRun(fragments)] });
    blocks.push({ start: searchResults(request, identity, index), deltas: [] });
  }
  if (plan.pieceCount > 0) blocks.push(textStream(request, blocks.length));
  if (directive.unknown) blocks.push({ start: unknownBlock, deltas: [unknownRun] });
  plan.calls.forEach((call, index) => {
    const start = callBlock(call.name, identity.callId(index));
    blocks.push({ start, deltas: [inputRun(['', ...argumentFragments(call)])] });
  });
  return blocks;
}

const unknownRun: Run = {
  type: 'sim_unknown_delta',
  member: 'sim',
  count: 1,
  text: () => 'nothing that anybody knows',
};

function inputRun(fragments: readonly string[]): Run {
  const text = (offset: number) => fragments[offset] ?? '';
  return { type: 'input_json_delta', member: 'partial_json', count: fragments.length, text };
}

function thinkingStream(request: MessagesRequest): StreamedBlock {
  const { plan, thinkingHidden } = request;
  const { signature } = thinkingBlock(request);
  return {
    start: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      {
        type: 'thinking_delta',
        member: 'thinking',
        count: thinkingHidden ? 0 : plan.reasoningCount,
        text: (offset) => ` r${offset}`,
      },
      { type: 'signature_delta', member: 'signature', count: 1, text: () => String(signature) },
    ],
  };
}

/** Citations come before the text that they stand for. */
function textStream(request: MessagesRequest, index: number): StreamedBlock {
  const { plan } = request;
  const cited = plan.searchCount > 0;
  const citations = (cited ? citationsOf(request) : []).map((citation) => {
    const type = 'content_block_delta';
    const delta = { type: 'citations_delta', citation };
    return `event: ${type}\ndata: ${JSON.stringify({ type, index, delta })}\n\n`;
  });
  const { piece } = plan;
  return {
    start: { type: 'text', text: '', citations: cited ? [] : null },
    deltas: [
      fixed(...citations),
      { type: 'text_delta', member: 'text', count: plan.pieceCount, text: piece },
    ],
  };
}
