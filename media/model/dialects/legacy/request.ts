// A legacy body → the neutral request. It is never forwarded: no provider speaks this format.
import { fieldProblem } from '../../../../runtime/http/validate.ts';
import { withParsedUrls } from '../../media-url.ts';
import { type GenerationRequest, type Message, noSampling } from '../../request.ts';
import { noSeals, type Seals } from '../../seals.ts';
import { withoutForbiddenSearch } from '../../search-tools.ts';
import { readCeiling, readControls, readOutputFormat } from '../fields.ts';
import { readInput, textMessage } from '../responses/input.ts';
import { readToolChoice, readTools } from '../responses/request.ts';
import type { DeclaredTool } from '../responses/schema.ts';
import type { LegacyRequestBody } from './schema.ts';

/** Throws a Problem with the field's path for what the schema alone cannot refuse. */
export function readRequest(
  given: LegacyRequestBody,
  headers: Readonly<Record<string, string>>,
  seals: Pick<Seals, 'open'> = noSeals,
): GenerationRequest {
  const body = withParsedUrls(given, ['input', 'messages', 'tools']);
  const messages = readMessages(body, seals);
  if (typeof body.instructions === 'string') {
    messages.unshift(textMessage('system', body.instructions));
  }
  return withoutForbiddenSearch({
    model: body.model,
    messages,
    ...readTools((body.tools ?? []).map(flatTool), body.tool_choice ?? null),
    toolChoice: readToolChoice(body.tool_choice ?? null),
    parallelToolCalls: null,
    outputFormat: readOutputFormat(body),
    outputTokensMax: readCeiling(body),
    sampling: {
      ...noSampling,
      temperature: body.temperature ?? null,
      topP: body.top_p ?? null,
    },
    reasoning: null,
    controls: readControls(body),
    source: { format: 'legacy', body, headers, rewritten: false },
  });
}

function readMessages(body: LegacyRequestBody, seals: Pick<Seals, 'open'>): Message[] {
  const { input, messages } = body;
  if (input !== null && input !== undefined) return readInput(input, seals).messages;
  if (messages !== null && messages !== undefined) {
    return readInput(messages, seals, 'messages').messages;
  }
  throw fieldProblem('input', "One of 'input' and 'messages' is required.");
}

/** Desktop versions of both kinds are in the field: some nest the declaration, as Chat does. */
function flatTool(tool: NonNullable<LegacyRequestBody['tools']>[number]): DeclaredTool {
  return tool.function === null || tool.function === undefined
    ? tool
    : { ...tool, ...tool.function };
}
