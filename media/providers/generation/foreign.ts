// What of a request only another wire format can say, and nobody may drop: tools, and what is said
// that is no mere trace of how an answer came about.
import { isToldByTools } from '../../model/dialects/responses/late-tools.ts';
import { partPath } from '../../model/media-path.ts';
import type { ContentPart, GenerationRequest, WireFormat } from '../../model/request.ts';

/** The path of what an upstream of this format cannot be told; null: nothing. */
export function foreignTo(request: GenerationRequest, format: WireFormat): string | null {
  if (request.nativeTools.some((tool) => tool.format !== format && tool.isOptional !== true)) {
    return 'tools';
  }
  if (format !== 'messages' && asksToCompact(request)) return 'compaction';
  return untoldPath(request, (part) => part.type !== 'native' || part.format === format);
}

/**
 * Whether a client of Messages wants its conversation summed up and nothing else: another family's
 * model would answer instead, and be paid for it.
 */
export function asksToCompact({ source }: GenerationRequest): boolean {
  return source.format === 'messages' && (source.body.compaction ?? null) !== null;
}

/** The path of the first part that cannot be told and may not be left out; null: there is none. */
export function untoldPath(
  request: GenerationRequest,
  isTold: (part: ContentPart) => boolean,
): string | null {
  let isFirst = true;
  for (const { role, parts } of request.messages) {
    for (const part of parts) {
      if (isTold(part) || isToldAsTools(request, part)) continue;
      const isLeft = role === 'assistant' && mayLeaveOut(part) && !(isFirst && isCompaction(part));
      if (!isLeft) return partPath(request, part);
    }
    if (role !== 'system') isFirst = false;
  }
  return null;
}

/** An item that declares tools, which the request has among its own. */
function isToldAsTools({ source }: GenerationRequest, part: ContentPart): boolean {
  return source.format === 'responses' && part.type === 'native' && isToldByTools(part.value);
}

/** Messages' summary of all that was said before; null content: it failed, and says nothing. */
function isCompaction(part: ContentPart): boolean {
  if (part.type !== 'native' || part.format !== 'messages') return false;
  return part.value.type === 'compaction' && (part.value.content ?? null) !== null;
}

/** Items of Responses by which an answer came about: its words say what came of them. */
const traces: ReadonlySet<unknown> = new Set([
  'code_interpreter_call',
  'file_search_call',
  'image_generation_call',
  'mcp_approval_request',
  'mcp_call',
  'mcp_list_tools',
  'reasoning',
  'reasoning_text',
  'summary_text',
  'web_search_call',
]);

/** Traces where the provider executed them: it found tools of those that the request declares. */
const executed: ReadonlySet<unknown> = new Set(['tool_search_call', 'tool_search_output']);

/**
 * What models said for their own format alone. Others of the items of Responses may be anything:
 * a compaction is the whole conversation, and a search that the client executed declares tools.
 */
function mayLeaveOut(part: ContentPart): boolean {
  if (part.type !== 'native') return false;
  const { format, value } = part;
  if (format !== 'responses' || traces.has(value.type)) return true;
  return executed.has(value.type) && value.execution === 'server';
}
