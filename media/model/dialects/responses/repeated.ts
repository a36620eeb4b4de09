// The settings of a request as its response repeats them: written out whole, since a strict client
// looks for every member. What the client left out is what holds without it, or null.
import type { OutputFormat } from '../../request.ts';

type Members = Record<string, unknown>;

/** Functions have all members of the format. Other tools are their provider's own, and stay. */
export function wholeTools(tools: unknown): readonly unknown[] {
  return Array.isArray(tools) ? tools.map(wholeTool) : [];
}

function wholeTool(tool: unknown): unknown {
  if (!isMembers(tool) || tool.type !== 'function') return tool;
  const { type, name, description = null, parameters = null, strict = null } = tool;
  return withOthers({ type, name, description, parameters, strict }, tool);
}

/** A list of allowed tools always has its mode. */
export function wholeChoice(choice: unknown): unknown {
  if (!isMembers(choice) || choice.type !== 'allowed_tools') return choice ?? 'auto';
  return withOthers({ type: choice.type, mode: choice.mode ?? 'auto' }, choice);
}

export function wholeReasoning(reasoning: unknown): Members {
  if (!isMembers(reasoning)) return { effort: null, summary: null };
  const { effort = null, summary = null } = reasoning;
  return withOthers({ effort, summary }, reasoning);
}

/** `text` as it holds: response_format goes before text.format. */
export function wholeText(body: Members, format: OutputFormat): Members {
  const declared = isMembers(body.text) ? body.text : {};
  const explicit = isMembers(body.response_format) ? body.response_format.json_schema : null;
  const isExplicit = body.response_format !== null && body.response_format !== undefined;
  const source = isExplicit ? explicit : declared.format;
  return withOthers({ format: wholeFormat(format, isMembers(source) ? source : {}) }, declared);
}

function wholeFormat(format: OutputFormat, { description }: Members): Members {
  if (format.type !== 'json_schema') return { type: format.type };
  const { type, name, schema, strict } = format;
  const told = typeof description === 'string' ? description : null;
  return { type, name, description: told, schema, strict };
}

/** A number that was asked for, else what holds without it. */
export function numberOr<T>(value: unknown, otherwise: T): number | T {
  return typeof value === 'number' ? value : otherwise;
}

export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Adds what else the client said; member by member, since a spread takes V8's slow way. */
function withOthers(whole: Members, said: Members): Members {
  for (const name in said) {
    const value = said[name];
    if (!(name in whole) && value !== null && name !== '__proto__') whole[name] = value;
  }
  return whole;
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
