// Neutral tools and settings → tools, toolConfig and generationConfig.
import type {
  FunctionTool,
  GenerationRequest,
  OutputFormat,
  Reasoning,
  ToolChoice,
} from '../../../model/request.ts';
import type { Members } from '../../../transport/members.ts';
import type { CallOptions, UpstreamTarget } from '../contract.ts';
import { toldReasoning } from '../effort.ts';
import { labels, scoresOf } from '../told.ts';
import { generationOf } from './model.ts';

/** Thinking budgets of the efforts, where a model knows budgets only: the vendor's own figures. */
const budgets: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 512,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
};
/** The larger models of that generation cannot be kept from thinking. */
const smallestBudget = 128;

const levels: Readonly<Record<string, string>> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
};

const stopSequencesMax = 5;

/** Stop sequences beyond those that the provider takes. */
export function unwatched({ sampling }: GenerationRequest): readonly string[] {
  return sampling.stop.slice(stopSequencesMax);
}

const unknown: ReadonlySet<string> = new Set([
  'cache_control',
  'parallel_tool_calls',
  'verbosity',
  ...labels,
]);

/** Whether calls come in parallel the model decides. */
export function leavesOut(): ReadonlySet<string> {
  return unknown;
}

/**
 * Tools of the request, and the provider's own search. Models do not take both in one request, so
 * the search is left out where the client has tools.
 */
export function encodeTools(request: GenerationRequest, search: boolean): Members {
  const { tools, toolChoice } = request;
  if (tools.length === 0) return search ? { tools: [{ googleSearch: {} }] } : {};
  const encoded: Members = { tools: [{ functionDeclarations: tools.map(encodeTool) }] };
  if (toolChoice !== null) {
    encoded.toolConfig = { functionCallingConfig: encodeChoice(toolChoice) };
  }
  return encoded;
}

export function encodeSettings(
  request: GenerationRequest,
  model: string,
  { outputTokensMax, reasons = false }: CallOptions,
): Members {
  const { sampling } = request;
  const stop = sampling.stop.slice(0, stopSequencesMax);
  const reasoning = toldReasoning(request.reasoning, reasons);
  const scores = scoresOf(request);
  const settings: Members = {
    maxOutputTokens: outputTokensMax,
    temperature: sampling.temperature,
    topP: sampling.topP,
    topK: sampling.topK,
    seed: sampling.seed,
    presencePenalty: sampling.presencePenalty,
    frequencyPenalty: sampling.frequencyPenalty,
    stopSequences: stop.length === 0 ? null : stop,
    responseLogprobs: scores === null ? null : true,
    logprobs: scores === 0 ? null : scores,
    thinkingConfig: reasoning === null ? null : thinkingOf(reasoning, model),
  };
  const given = Object.entries(settings).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(given), ...formatOf(request) };
}

function encodeTool(tool: FunctionTool): Members {
  const declared: Members = { name: tool.name };
  if (tool.description !== null) declared.description = tool.description;
  if (tool.parameters !== null) declared.parametersJsonSchema = tool.parameters;
  return declared;
}

function encodeChoice(choice: ToolChoice): Members {
  switch (choice) {
    case 'auto':
      return { mode: 'AUTO' };
    case 'none':
      return { mode: 'NONE' };
    case 'required':
      return { mode: 'ANY' };
    default:
      return { mode: 'ANY', allowedFunctionNames: [choice.name] };
  }
}

/**
 * Before the third generation no format can be had together with tools. Beside a format the
 * provider's search is refused by that generation, and left out without a word by later ones.
 */
export function constrains(
  _format: OutputFormat,
  { tools }: GenerationRequest,
  { upstreamModel }: UpstreamTarget,
  nativeSearch = false,
): boolean {
  if (nativeSearch) return false;
  const generation = generationOf(upstreamModel);
  return tools.length === 0 || generation === null || generation >= 3;
}

function formatOf({ outputFormat }: GenerationRequest): Members {
  if (outputFormat.type === 'text') return {};
  const json = { responseMimeType: 'application/json' };
  if (outputFormat.type === 'json_object') return json;
  return { ...json, responseJsonSchema: outputFormat.schema };
}

function thinkingOf({ effort, budgetTokens, summary }: Reasoning, model: string): Members | null {
  const config: Members = summary ? { includeThoughts: true } : {};
  if (budgetTokens !== null) config.thinkingBudget = budgetTokens;
  else if (effort !== null) Object.assign(config, effortOf(effort, model));
  return Object.keys(config).length === 0 ? null : config;
}

function effortOf(effort: string, model: string): Members {
  const generation = generationOf(model);
  if (generation !== null && generation < 3) {
    const budget = budgets[effort];
    if (budget === undefined) return {};
    return { thinkingBudget: model.includes('pro') ? Math.max(budget, smallestBudget) : budget };
  }
  const level = levels[effort];
  if (level === undefined) return {};
  return { thinkingLevel: level === 'MINIMAL' && model.includes('pro') ? 'LOW' : level };
}
