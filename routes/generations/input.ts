// Whether a request says anything. Asked where a generation is made: a stored one is read again
// without its input.
import { conversationMember } from '../../media/model/media-path.ts';
import type { GenerationRequest } from '../../media/model/request.ts';
import { fieldProblem } from '../../runtime/http/validate.ts';

/**
 * Refuses a conversation with nothing in it, not even instructions: providers do, in words that
 * name no field, and some answer it.
 * @throws Problem invalid_request
 */
export function requireInput(request: GenerationRequest): void {
  if (request.messages.length > 0) return;
  const path = conversationMember(request);
  throw fieldProblem(path, `Nothing is said in '${path}', and there are no instructions.`);
}
