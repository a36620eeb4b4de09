// Reads a transcription's multipart body, and refuses what the provider would.
import { getParts } from 'uWebSockets.js';
import { type ChatError, invalidRequest, unknownModel } from '../chat/failure.ts';
import { type Directive, findDirective } from '../directive.ts';

/** Ids with another name and length than any public alias. */
export const transcriptionModels: readonly string[] = [
  'sim-transcribe-2026',
  'sim-transcribe-mini-2026',
  'sim-transcribe-first-2026',
];

const formats = ['json', 'text', 'verbose_json'] as const;
const fields = [
  'file',
  'model',
  'language',
  'prompt',
  'response_format',
  'temperature',
  'stream',
  'timestamp_granularities[]',
  'include[]',
  'chunking_strategy',
];
const fileBytesMax = 25 * 1024 * 1024;

export interface TranscriptionRequest {
  model: string;
  file: Buffer;
  language: string;
  format: (typeof formats)[number];
  stream: boolean;
  directive: Directive;
}

/** The directive is looked for in the prompt, then in the name of the file. */
export function readTranscriptionRequest(
  body: unknown,
  contentType: string,
): TranscriptionRequest | { error: ChatError } {
  const parts = Buffer.isBuffer(body) ? getParts(body, contentType) : undefined;
  if (parts === undefined) {
    return { error: invalidRequest('Could not parse multipart form', null) };
  }
  const strange = parts.find(({ name }) => !fields.includes(name));
  if (strange !== undefined) {
    return { error: invalidRequest(`Unknown parameter: '${strange.name}'.`, strange.name) };
  }
  const textOf = (field: string): string => {
    const part = parts.find(({ name }) => name === field);
    return part === undefined ? '' : Buffer.from(part.data).toString();
  };
  const model = textOf('model');
  if (model === '') return { error: invalidRequest('you must provide a model parameter', 'model') };
  if (!transcriptionModels.includes(model)) return { error: unknownModel(model) };
  const file = parts.find(({ name }) => name === 'file');
  if (file?.filename === undefined) {
    return { error: invalidRequest("Missing required parameter: 'file'.", 'file') };
  }
  if (file.data.byteLength > fileBytesMax) {
    const error = invalidRequest('Maximum content size limit (26214400) exceeded.', 'file');
    return { error: { ...error, status: 413 } };
  }
  const asked = textOf('response_format');
  const format = asked === '' ? 'json' : formats.find((name) => name === asked);
  if (format === undefined) {
    const message = `Invalid 'response_format': the simulator writes ${formats.join(', ')}.`;
    return { error: invalidRequest(message, 'response_format') };
  }
  return {
    model,
    file: Buffer.from(file.data),
    language: textOf('language'),
    format,
    stream: textOf('stream') === 'true',
    directive: findDirective([file.filename, textOf('prompt')]).directive,
  };
}
