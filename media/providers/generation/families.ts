// Every upstream family by its name in the configuration.
import { strict as assert } from 'node:assert';
import { anthropicMessages } from './anthropic-messages/family.ts';
import type { ProviderFamily } from './contract.ts';
import { gemini } from './gemini/family.ts';
import { openaiChat } from './openai-chat/family.ts';
import { openaiResponses } from './openai-responses/family.ts';

const families: ReadonlyMap<string, ProviderFamily> = new Map(
  [gemini, openaiChat, openaiResponses, anthropicMessages].map((family) => [family.name, family]),
);

export const familyNames: readonly string[] = [...families.keys()];

/** The family of servers that speak the common format, local model runners among them. */
export const compatibleFamily = openaiChat.name;

/** The family of text models of this name, if it is one. */
export function findFamily(name: string): ProviderFamily | null {
  return families.get(name) ?? null;
}

/** The family of a catalog target: the catalog admits no other names. */
export function requireFamily(name: string): ProviderFamily {
  const family = families.get(name);
  assert(family !== undefined, `there is no provider family ${name}`);
  return family;
}
