// Piscina task: a JSON Schema of a client is compiled, and an answer checked against it, where that
// holds nobody up.
import '../../runtime/work/background.ts';
import type { OutputFormat } from '../model/request.ts';
import { faultOfFormat, type SchemaFault, satisfiesOutputFormat } from '../model/structured.ts';

export interface CheckFormatInput {
  format: OutputFormat;
  /** Null: only whether the schema is one. */
  text: string | null;
}

// biome-ignore lint/style/noDefaultExport: Piscina runs a file's default export
export default function checkFormatTask(input: CheckFormatInput): boolean | SchemaFault {
  const { format, text } = input;
  return text === null ? (faultOfFormat(format) ?? true) : satisfiesOutputFormat(format, text);
}
