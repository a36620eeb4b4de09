// Parameters of a function as providers take them: tools of MCP servers that take no arguments are
// declared as `{"type":"object"}`, by clients in Go with properties of null, and refused as such.
import type { FunctionTool } from '../../model/request.ts';
import type { Members } from '../../transport/members.ts';

/** Anything else than an object is no parameters, in any format. */
export function functionSchema(parameters: NonNullable<FunctionTool['parameters']>): Members {
  return { ...parameters, type: 'object', properties: parameters.properties ?? {} };
}
