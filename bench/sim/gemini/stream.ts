// Renders a plan as generateContent chunks: every one is a whole response with running counts. What
// never changes in a chunk is built once per stream.
import type { Members } from '../members.ts';
import type { Script } from '../player.ts';
import { joinSegments, type Segment, single } from '../segments.ts';
import { unknownMembers, unknownTail } from '../unknown.ts';
import { bareErrorEvent, streamErrorEvent } from './failure.ts';
import type { GeminiRequest } from './request.ts';
import { signatureOf } from './signature.ts';
import {
  callParts,
  endMembers,
  type GeminiIdentity,
  promptFeedback,
  strangePart,
  usageMembers,
} from './whole.ts';

export function geminiScript(request: GeminiRequest, identity: GeminiIdentity): Script {
  const stream = joinSegments(segmentsOf(request, identity));
  return {
    headers: [
      ['content-type', 'text/event-stream'],
      ['content-disposition', 'attachment'],
    ],
    count: stream.count,
    pacedCount: stream.count,
    event: stream.event,
    errorEvent: () => streamErrorEvent,
    failedEvent: () => bareErrorEvent,
    garbageEvent: 'data: {"candidates": [{"content": {"par\n\n',
  };
}

function segmentsOf(request: GeminiRequest, identity: GeminiIdentity): Segment[] {
  const { plan, directive } = request;
  const whole = (members: Members) => single(() => chunk(request, identity, members));
  if (directive.refusal === 'prompt') return [whole({ promptFeedback: promptFeedback() })];
  const candidate = (part: Members) => ({
    candidates: [{ content: { parts: [part], role: 'model' }, index: 0 }],
  });
  const strange = [whole({}), whole(candidate(strangePart))];
  const thoughts = request.includeThoughts ? plan.reasoningCount : 0;
  return [
    ...(directive.unknown ? strange : []),
    textRun(request, identity, thoughts, (offset) => ` r${offset}`, true),
    textRun(request, identity, plan.pieceCount, plan.piece, false),
    ...callParts(request, identity).map((part) => whole(candidate(part))),
    whole({ candidates: [lastCandidate(request, identity)] }),
  ];
}

function lastCandidate(request: GeminiRequest, identity: GeminiIdentity): Members {
  const { plan } = request;
  const signed = plan.reasoningCount > 0 && plan.calls.length === 0;
  const signature = signed ? { thoughtSignature: signatureOf(identity.responseId) } : {};
  const content = { parts: [{ text: '', ...signature }], role: 'model' };
  return { ...(plan.end === 'refusal' ? {} : { content }), ...endMembers(request) };
}

function chunk(request: GeminiRequest, identity: GeminiIdentity, members: Members): string {
  const { directive, plan, model } = request;
  const usage = directive.fault === 'no_usage' ? {} : { usageMetadata: usageMembers(plan) };
  const named = { modelVersion: model, responseId: identity.responseId };
  const strange = directive.unknown ? unknownMembers : {};
  return `data: ${JSON.stringify({ ...members, ...usage, ...named, ...strange })}\r\n\r\n`;
}

/** One part of text a chunk, with the counts so far. */
function textRun(
  request: GeminiRequest,
  identity: GeminiIdentity,
  count: number,
  piece: (offset: number) => string,
  thought: boolean,
): Segment {
  const { directive, plan, model } = request;
  const { inputTokens, reasoningTokens } = plan.usage;
  const zero = directive.fault === 'zero_usage';
  const strange = directive.unknown ? unknownTail : '';
  const head = 'data: {"candidates":[{"content":{"parts":[{"text":';
  const mark = thought ? ',"thought":true' : '';
  const middle = `${mark}${strange}}],"role":"model"},"index":0${strange}}],`;
  const named = JSON.stringify({ modelVersion: model, responseId: identity.responseId });
  const tail = `${named.slice(1, -1)}${strange}}\r\n\r\n`;
  const before = thought ? '' : `,"thoughtsTokenCount":${reasoningTokens}`;
  const counter = thought ? 'thoughtsTokenCount' : 'candidatesTokenCount';
  const base = inputTokens + (thought ? 0 : reasoningTokens);
  const usage = (told: number) => {
    if (directive.fault === 'no_usage') return '';
    const counts = `"promptTokenCount":${inputTokens},"${counter}":${told}${before}`;
    return `"usageMetadata":{${counts},"totalTokenCount":${base + told}},`;
  };
  const event = (offset: number) =>
    `${head}${JSON.stringify(piece(offset))}${middle}${usage(zero ? 0 : offset + 1)}${tail}`;
  return { count, event };
}
