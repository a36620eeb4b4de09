// Structured output where the provider cannot keep to it by itself: the model is told, the answer
// is withheld until it satisfies the format, and one repair is tried. Both calls are paid for.
import { type Answer, answerRefusal, answerText } from '../../media/model/answer.ts';
import type { GenerationRequest, Message, OutputFormat } from '../../media/model/request.ts';
import type { TokenUsage } from '../../media/model/usage.ts';
import type { ProviderFamily } from '../../media/providers/generation/contract.ts';
import type { Candidate, GenerationSpec } from './spec.ts';

export interface StructureState {
  /** Nothing is shown before the answer is known to be good. */
  withheld: boolean;
  /** Its provider does not keep it to its format. */
  isFree: boolean;
  repaired: boolean;
  /** Usage of the answer that was repaired, and its output tokens as the hold counts them. */
  spent: TokenUsage | null;
  spentEstimated: boolean;
  spentTokens: number;
  /** A repair that waits for the wallet. `asked`: for its own slice. */
  pending: { candidate: Candidate; asked: boolean } | null;
  /** Whose whole answer is being checked elsewhere. */
  checking: Candidate | null;
  /** The answer does not have the format. */
  broken: boolean;
  /** Nobody could look whether it has. */
  unchecked: boolean;
}

export function newStructure(): StructureState {
  return {
    withheld: false,
    isFree: false,
    repaired: false,
    spent: null,
    spentEstimated: false,
    spentTokens: 0,
    pending: null,
    checking: null,
    broken: false,
    unchecked: false,
  };
}

/** Whether the provider itself keeps the answer to the format that was asked for. */
export function isConstrained(
  family: ProviderFamily,
  request: GenerationRequest,
  { model, target }: Candidate,
  nativeSearch = false,
): boolean {
  const { outputFormat } = request;
  if (outputFormat.type === 'text') return true;
  if (!model.capabilities.includes('structured_output')) return false;
  return family.constrains(outputFormat, request, target, nativeSearch);
}

/** The request as prose: for a provider that has no member for the format. */
export function instructed(request: GenerationRequest): GenerationRequest {
  const text = instruction(request.outputFormat);
  const system: Message = {
    role: 'system',
    parts: [{ type: 'text', text }],
    toolCalls: [],
    toolCallId: null,
  };
  return {
    ...request,
    messages: [system, ...request.messages],
    outputFormat: { type: 'text' },
    source: { ...request.source, body: unformatted(request.source.body), rewritten: true },
  };
}

/** The client's body without the format, which a provider of its own dialect would be sent. */
function unformatted(body: Record<string, unknown>): Record<string, unknown> {
  const { response_format: _format, text, ...rest } = body;
  if (typeof text !== 'object' || text === null) return rest;
  const { format: _textFormat, ...settings } = text as Record<string, unknown>;
  return Object.keys(settings).length === 0 ? rest : { ...rest, text: settings };
}

function instruction(format: OutputFormat): string {
  const only = 'Answer with one JSON object and nothing else: no prose, no code fence.';
  if (format.type !== 'json_schema') return only;
  return `${only} It must satisfy this JSON Schema:\n${JSON.stringify(format.schema)}`;
}

/** What of a whole answer must have the format; null: nothing, such as of one that was cut. */
export function textToCheck({
  answer,
  spec,
  structure,
}: {
  answer: Answer;
  spec: Pick<GenerationSpec, 'request'>;
  structure: Pick<StructureState, 'withheld'>;
}): string | null {
  if (spec.request.outputFormat.type === 'text') return null;
  if (answer.finishReason !== 'stop' || answerRefusal(answer) !== '') return null;
  const text = answerText(answer);
  return structure.withheld ? bareJson(text) : text;
}

/** Takes a code fence away from around the answer's text. */
export function unfence(answer: Answer): void {
  for (const item of answer.items) if (item.type === 'text') item.text = bareJson(item.text);
}

const fenceStart = /^```(?:json)?\s/i;

/**
 * Models love fences around JSON, and they say nothing about the answer. Both ends are looked at
 * alone: one pattern over the whole text takes the square of the blanks in it.
 */
function bareJson(text: string): string {
  const trimmed = text.trim();
  const begun = fenceStart.exec(trimmed)?.[0].length;
  if (begun === undefined || trimmed.length < begun + 3 || !trimmed.endsWith('```')) return text;
  return trimmed.slice(begun, -3).trimEnd();
}

/** The question again, with the answer that broke the format and what is wrong with it. */
export function repairRequest(request: GenerationRequest, answer: Answer): GenerationRequest {
  const said = answerText(answer);
  const turn = (role: 'assistant' | 'user', text: string): Message => ({
    role,
    parts: [{ type: 'text', text }],
    toolCalls: [],
    toolCallId: null,
  });
  const complaint =
    'That is not a JSON object that satisfies the format asked for. Answer again with the ' +
    'corrected JSON object and nothing else.';
  return {
    ...request,
    messages: [...request.messages, turn('assistant', said), turn('user', complaint)],
    source: { ...request.source, rewritten: true },
  };
}
