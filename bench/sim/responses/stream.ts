// Renders a plan as Responses events, numbered from 0: created, in_progress, each item from added
// to done, then how it ended. What never changes in a delta is built once per stream.
import { argumentFragments, planText } from '../answer.ts';
import type { PlannedCall } from '../directive.ts';
import type { Members } from '../members.ts';
import type { Script } from '../player.ts';
import { joinSegments, type Segment, single } from '../segments.ts';
import { unknownMembers, unknownTail } from '../unknown.ts';
import { streamErrorEvent } from './failure.ts';
import type { ResponsesRequest } from './request.ts';
import {
  annotationsOf,
  contentPart,
  endStatus,
  outputOf,
  type ResponseStatus,
  type ResponsesIdentity,
  responseJson,
  scoresOf,
  summaryTexts,
} from './whole.ts';

const padding = 'zqWm4TgLr0VbnXkS9dHcYpJf';

export function responsesScript(request: ResponsesRequest, identity: ResponsesIdentity): Script {
  const stream = joinSegments(segmentsOf(request, identity));
  const failed = lifeEvent(request, identity, 'failed', []);
  return {
    headers: [
      ['content-type', 'text/event-stream; charset=utf-8'],
      ['cache-control', 'no-cache'],
      ['x-request-id', identity.requestId],
      ['openai-processing-ms', '1'],
      ['openai-version', '2020-10-01'],
    ],
    count: stream.count,
    pacedCount: stream.count,
    event: stream.event,
    errorEvent: streamErrorEvent,
    failedEvent: (index) => failed.event(0, index),
    garbageEvent: 'event: response.output_text.delta\ndata: {"type":"response.output_te\n\n',
  };
}

function segmentsOf(request: ResponsesRequest, identity: ResponsesIdentity): Segment[] {
  const output = outputOf(request, identity);
  const items = output.flatMap((item, index) => [
    numbered('response.output_item.added', { output_index: index, item: begun(item) }),
    ...progressOf(request, item, index),
    numbered('response.output_item.done', { output_index: index, item }),
  ]);
  const strange = numbered('response.sim_unknown.delta', { delta: 'sim', ...unknownMembers });
  return [
    lifeEvent(request, identity, 'in_progress', [], 'created'),
    lifeEvent(request, identity, 'in_progress', []),
    ...(request.directive.unknown ? [strange] : []),
    ...items,
    lifeEvent(request, identity, endStatus(request.plan), output),
  ];
}

/** An event with the whole response in it. */
function lifeEvent(
  request: ResponsesRequest,
  identity: ResponsesIdentity,
  status: ResponseStatus,
  output: readonly Members[],
  name: string = status,
): Segment {
  const type = `response.${name}`;
  return single((index) => {
    const response = responseJson(request, identity, status, output);
    const members = `"type":"${type}","sequence_number":${index},"response":${response}`;
    return `event: ${type}\ndata: {${members}}\n\n`;
  });
}

function numbered(type: string, members: Members): Segment {
  const rest = JSON.stringify(members).slice(1);
  return single(
    (index) => `event: ${type}\ndata: {"type":"${type}","sequence_number":${index},${rest}\n\n`,
  );
}

/** An item as it is announced: named, but empty. */
function begun(item: Members): Members {
  switch (item.type) {
    case 'message':
      return { ...item, status: 'in_progress', content: [] };
    case 'function_call':
      return { ...item, status: 'in_progress', arguments: '' };
    case 'custom_tool_call':
      return { ...item, input: '' };
    case 'web_search_call':
      return { ...item, status: 'in_progress' };
    case 'reasoning':
      return { ...item, summary: [] };
    default:
      return item;
  }
}

/** What happens between `added` and `done`. */
function progressOf(request: ResponsesRequest, item: Members, index: number): Segment[] {
  const ids = { item_id: item.id, output_index: index };
  switch (item.type) {
    case 'message':
      return messageProgress(request, { ...ids, content_index: 0 });
    case 'function_call':
      return callProgress(request, ids, 'function_call_arguments', {
        arguments: item.arguments,
      });
    case 'custom_tool_call':
      return callProgress(request, ids, 'custom_tool_call_input', { input: item.input });
    case 'web_search_call':
      return ['in_progress', 'searching', 'completed'].map((step) =>
        numbered(`response.web_search_call.${step}`, ids),
      );
    case 'reasoning':
      return summaryTexts(request).flatMap((pieces, part) =>
        summaryProgress(request, pieces, { ...ids, summary_index: part }),
      );
    default:
      return [];
  }
}

function messageProgress(request: ResponsesRequest, ids: Members): Segment[] {
  const { plan } = request;
  const text = planText(plan);
  const begin = numbered('response.content_part.added', { ...ids, part: contentPart(request, '') });
  const end = numbered('response.content_part.done', { ...ids, part: contentPart(request, text) });
  const { piece } = plan;
  if (plan.end === 'refusal') {
    const deltas = deltaRun(request, 'response.refusal.delta', ids, plan.pieceCount, piece);
    return [begin, deltas, numbered('response.refusal.done', { ...ids, refusal: text }), end];
  }
  const pieces = Array.from({ length: plan.pieceCount }, (_, index) => piece(index));
  const scored = {
    ...ids,
    logprobs: request.scores === null ? [] : pieces.flatMap((one) => scoresOf(request, one, false)),
  };
  const annotations = text === '' ? [] : annotationsOf(request, text.length);
  return [
    begin,
    request.scores === null
      ? deltaRun(request, 'response.output_text.delta', scored, plan.pieceCount, piece)
      : joinSegments(pieces.map((delta) => scoredDelta(request, ids, delta))),
    ...annotations.map((annotation, at) =>
      numbered('response.output_text.annotation.added', {
        ...ids,
        annotation_index: at,
        annotation,
      }),
    ),
    numbered('response.output_text.done', { ...scored, text }),
    end,
  ];
}

/** A delta with the logprobs of its own text: no two are alike. */
function scoredDelta(request: ResponsesRequest, ids: Members, delta: string): Segment {
  const logprobs = scoresOf(request, delta, false);
  return numbered('response.output_text.delta', { ...ids, delta, logprobs });
}

function callProgress(
  request: ResponsesRequest,
  ids: Members,
  name: string,
  whole: Members,
): Segment[] {
  const call: PlannedCall = { name, argumentText: String(Object.values(whole)[0]) };
  const fragments = argumentFragments(call);
  const piece = (offset: number) => fragments[offset] ?? '';
  return [
    deltaRun(request, `response.${name}.delta`, ids, fragments.length, piece),
    numbered(`response.${name}.done`, { ...ids, ...whole }),
  ];
}

function summaryProgress(
  request: ResponsesRequest,
  pieces: readonly string[],
  ids: Members,
): Segment[] {
  const text = pieces.join('');
  const type = 'response.reasoning_summary';
  const part = (value: string) => ({ ...ids, part: { type: 'summary_text', text: value } });
  const piece = (offset: number) => pieces[offset] ?? '';
  return [
    numbered(`${type}_part.added`, part('')),
    deltaRun(request, `${type}_text.delta`, ids, pieces.length, piece),
    numbered(`${type}_text.done`, { ...ids, text }),
    numbered(`${type}_part.done`, part(text)),
  ];
}

/** Events that differ in their number, one string, and the padding that hides its length. */
function deltaRun(
  request: ResponsesRequest,
  type: string,
  members: Members,
  count: number,
  piece: (offset: number) => string,
): Segment {
  const head = `event: ${type}\ndata: {"type":"${type}","sequence_number":`;
  const strange = request.directive.unknown ? unknownTail : '';
  const middle = `,${JSON.stringify(members).slice(1, -1)}${strange},"delta":`;
  const { obfuscate } = request;
  const event = (offset: number, index: number) => {
    const filling = obfuscate ? `,"obfuscation":"${padding.slice(0, 1 + (index % 24))}"` : '';
    return `${head}${index}${middle}${JSON.stringify(piece(offset))}${filling}}\n\n`;
  };
  return { count, event };
}
