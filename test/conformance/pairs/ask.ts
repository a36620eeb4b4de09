// What a test asks of a model, and what it got, apart from any wire format: the formats of clients
// are written from it and read into it, so that one table holds for every pair.
import type { SvcUsage } from '../../../media/model/dialects/contract.ts';

export type Members = Record<string, unknown>;

export interface Call {
  id: string;
  name: string;
  /** JSON text. */
  arguments: string;
}

export type Turn =
  | { role: 'user'; text: string; imageUrl?: string }
  /** `carried`: what the format wants back as it was given, such as signed thinking. */
  | { role: 'assistant'; text: string; calls: readonly Call[]; carried?: readonly Members[] }
  | { role: 'tool'; callId: string; text: string };

export interface Ask {
  system: string | null;
  turns: readonly Turn[];
  /** Names of tools; all take the same. */
  tools: readonly string[];
  /** JSON Schema of what they take. */
  parameters: Members;
  schema: Members | null;
  /** Where the answer ends; Responses has no member for it. */
  stop: readonly string[];
  outputTokensMax: number | null;
  /** Thinking is asked for, and a look at it where the format can ask for that. */
  thinks: boolean;
  /** The provider's own search tool, as the format declares it. */
  ownSearch: boolean;
  /** The service is to search, or to let the model do it. */
  searches: boolean;
}

export function ask(text: string, change: Partial<Ask> = {}): Ask {
  return {
    system: null,
    turns: [{ role: 'user', text }],
    tools: [],
    parameters: { type: 'object' },
    schema: null,
    stop: [],
    outputTokensMax: null,
    thinks: false,
    ownSearch: false,
    searches: false,
    ...change,
  };
}

export type Finish = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'failed';

export interface Outcome {
  status: number;
  text: string;
  refusal: string;
  reasoning: string;
  calls: Call[];
  /** Null: an error instead of an answer. */
  finish: Finish | null;
  /** Public code or type of the error. */
  error: string | null;
  svcUsage: SvcUsage | null;
  /** Native parts of the answer, by their type. */
  native: string[];
  carried: Members[];
  /** Addresses that the text cites. */
  sources: string[];
  requestId: string;
}

export function emptyOutcome(response: Response): Outcome {
  return {
    status: response.status,
    text: '',
    refusal: '',
    reasoning: '',
    calls: [],
    finish: null,
    error: null,
    svcUsage: null,
    native: [],
    carried: [],
    sources: [],
    requestId: response.headers.get('x-svc-request-id') ?? '',
  };
}

export interface SseEvent {
  type: string;
  data: string;
}

/** How clients of one public format speak. Readers fail on what a strict client would not take. */
export interface ClientFormat {
  name: 'chat' | 'responses' | 'messages' | 'legacy';
  path: string;
  headers(apiKey: string): Record<string, string>;
  body(ask: Ask, model: string, stream: boolean): Members;
  readWhole(outcome: Outcome, body: Members): void;
  readStream(outcome: Outcome, events: readonly SseEvent[]): void;
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function membersOf(value: unknown): Members[] {
  return Array.isArray(value) ? value.filter(isMembers) : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
