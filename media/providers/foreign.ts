// What of a request only another wire format can say, and nobody may drop: tools, and what the
// user or a tool put into a message. What models said of the kind (thinking) may be left out.
import { conversationMember } from '../model/media-path.ts';
import type { GenerationRequest, WireFormat } from '../model/request.ts';

/** The path of what an upstream of this format cannot be told; null: nothing. */
export function foreignTo(request: GenerationRequest, format: WireFormat): string | null {
  if (request.nativeTools.some((tool) => tool.format !== format && tool.isOptional !== true)) {
    return 'tools';
  }
  const isForeign = request.messages.some(
    ({ role, parts }) =>
      role !== 'assistant' &&
      parts.some((part) => part.type === 'native' && part.format !== format),
  );
  if (!isForeign) return null;
  return conversationMember(request);
}
