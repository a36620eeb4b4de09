// What a request needs of a model, read from the request alone. What no model of a pool may lack
// is apart from what is only better to have.
import { isTextFile } from '../file-url.ts';
import type { ContentPart, GenerationRequest, WireFormat } from '../request.ts';

export interface Needs {
  /** Names of the catalog's `capabilities`, all of them needed. */
  capabilities: readonly string[];
  /** Models that have these go first, if there is one. */
  preferred: readonly string[];
  /** The request has tools of a provider's own, which only upstreams of this format take. */
  format: WireFormat | null;
  inputTokens: number;
  /** What the client asked for; null: it did not say. */
  outputTokensMax: number | null;
}

const noReasoning = new Set(['none', 'minimal']);

/**
 * `extra` are capabilities that the request's own content does not show, such as `web_search` where
 * the service has no search of its own. Documents but those of text count as `vision`: models that
 * read the one read the other.
 */
export function needsOf(
  request: GenerationRequest,
  inputTokens: number,
  extra: readonly string[] = [],
): Needs {
  const capabilities = new Set(extra);
  if (request.tools.length > 0) capabilities.add('tools');
  if (request.outputFormat.type !== 'text') capabilities.add('structured_output');
  for (const message of request.messages) {
    if (message.toolCalls.length > 0) capabilities.add('tools');
    for (const part of message.parts) {
      if (isSeen(part)) capabilities.add('vision');
      else if (isSound(part)) capabilities.add('audio');
    }
  }
  return {
    capabilities: [...capabilities],
    preferred: wantsReasoning(request) ? ['reasoning'] : [],
    format: request.nativeTools.find(({ isOptional }) => isOptional !== true)?.format ?? null,
    inputTokens,
    outputTokensMax: request.outputTokensMax,
  };
}

/** What words alone do not say: text files are read as words. */
export function isSeen(part: ContentPart): part is ContentPart & { type: 'image' | 'file' } {
  return part.type === 'image' || (part.type === 'file' && !isTextFile(part.url));
}

/** Two formats have it, under one name. */
export function isSound(part: ContentPart): boolean {
  return part.type === 'native' && part.value.type === 'input_audio';
}

function wantsReasoning({ reasoning }: GenerationRequest): boolean {
  if (reasoning === null) return false;
  const { effort, budgetTokens } = reasoning;
  return (budgetTokens ?? 0) > 0 || (effort !== null && !noReasoning.has(effort));
}
