// Tools that an item of the input declares (`additional_tools`): some agents have no others. A
// provider of this format gets the item as it came. Others are told its tools like any others.
import { isOptionalTool, type RequestSource } from '../../request.ts';
import { isClientTool } from './namespaces.ts';
import type { DeclaredTool } from './schema.ts';

type Members = Record<string, unknown>;

/** With `input` the items of the turns before stand in front of the request's own. */
type Said = Pick<RequestSource, 'body' | 'input'>;

/** The items of a request that declare tools, those of the turns before as well. */
export function declaringItems({ body, input }: Said): Members[] {
  const items = input ?? body.input ?? body.messages;
  return Array.isArray(items) ? items.filter(isDeclaring) : [];
}

/** Tools that the client runs, of all such items. */
export function lateTools(items: readonly Members[]): DeclaredTool[] {
  return items.flatMap(toolsIn).filter(isClientTool);
}

/** Every tool that a request declares, wherever it stands. */
export function declaredTools(source: Said): unknown[] {
  const { tools } = source.body;
  return [...(Array.isArray(tools) ? tools : []), ...declaringItems(source).flatMap(toolsIn)];
}

/** Whether nothing of the item is lost when its tools are told like any others. */
export function isToldByTools(item: Members): boolean {
  if (!isDeclaring(item) || !Array.isArray(item.tools)) return false;
  return item.tools.every((tool: unknown) => {
    const { type }: Members = Object(tool);
    return isClientTool(tool) || (typeof type === 'string' && isOptionalTool(type));
  });
}

export function isDeclaring(item: unknown): boolean {
  return Object(item).type === 'additional_tools';
}

function toolsIn({ tools }: Members): unknown[] {
  return Array.isArray(tools) ? tools : [];
}
