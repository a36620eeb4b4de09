// The parameters of one request while they are read: each is taken once, and what nobody takes is
// left for the providers. The first fault is the one that is told.
import type { ParameterValue } from '../contract.ts';

export interface ParameterFault {
  path: string;
  message: string;
}

export interface Given {
  value: ParameterValue;
  /** As in `params.limit`, or `limit`. */
  path: string;
}

/** Plain state: the readers of parameters below fill it. */
export interface Parameters {
  given: ReadonlyMap<string, Given>;
  taken: Set<string>;
  assumed: Record<string, ParameterValue>;
  /** Names. */
  ignored: Set<string>;
  fault: ParameterFault | null;
  nowMs: number;
}

/** Undefined: it is not given. */
export function take(parameters: Parameters, name: string): ParameterValue | undefined {
  parameters.taken.add(name);
  return parameters.given.get(name)?.value;
}

/** A default in place of what is not given is told. */
export function assume<T extends ParameterValue>(
  parameters: Parameters,
  name: string,
  value: T,
): T {
  parameters.assumed[name] = value;
  return value;
}

/** `expected` ends the sentence: a number from 1 to 50. */
export function refuse(parameters: Parameters, name: string, expected: string): null {
  const path = parameters.given.get(name)?.path ?? `params.${name}`;
  return refuseAt(parameters, path, `Invalid value for '${path}': expected ${expected}.`);
}

export function refuseAt(parameters: Parameters, path: string, message: string): null {
  parameters.fault ??= { path, message };
  return null;
}

/** What no reader has asked for. */
export function restOf({ given, taken }: Parameters): Record<string, ParameterValue> {
  const rest: Record<string, ParameterValue> = {};
  for (const [name, { value }] of given) if (!taken.has(name)) rest[name] = value;
  return rest;
}
