// The plan as lines for people: what a start changes, what it leaves alone, and who wins where file
// and administrator differ. No line holds a credential.
import { type Definition, kindsOfRecords } from './kinds.ts';
import type { Plan, PlanItem } from './plan.ts';
import { credentialLabel } from './secrets.ts';

/** `+` is made, `~` is changed, `!` stays as an administrator left it, `?` is not declared now. */
export function planLines({ items, creditsPerUsd }: Plan): string[] {
  const lines = items.flatMap(linesOf);
  if (creditsPerUsd !== null) {
    const { before, after } = creditsPerUsd;
    return [`~ credits_per_usd: from ${before} to ${after}`, ...lines];
  }
  const isIdle = items.every(({ change }) => change !== 'create' && change !== 'update');
  return isIdle ? ['= nothing to change', ...lines] : lines;
}

function linesOf(item: PlanItem): string[] {
  const { kind, name, change, members, overrules } = item;
  const record = `${kindsOfRecords[kind].singular} ${name}`;
  const declarer = declarerOf(item);
  switch (change) {
    case 'create':
      return [`+ ${record}${overrules ? `: ${declarer} wins, an administrator deleted it` : ''}`];
    case 'update': {
      const line = `~ ${record}: ${members.join(', ')}`;
      return overrules ? [`${line}: ${declarer} wins`, ...sidesOf(item)] : [line];
    }
    case 'stands': {
      const line = `! ${record}: ${members.join(', ')}: the administrator wins`;
      return [`${line} until ${declarer} changes it`, ...sidesOf(item)];
    }
    case 'gone':
      return [`! ${record}: deleted by an administrator, who wins until ${declarer} changes it`];
    case 'forgotten': {
      const stays = kindsOfRecords[kind].onlyName ? 'as it is' : 'until it is deleted';
      return [`? ${record}: declared before, not any more; it stays ${stays}`];
    }
  }
}

function declarerOf({ source }: PlanItem): string {
  return `the ${source}`;
}

/** Both sides of each member that differs. */
function sidesOf(item: PlanItem): string[] {
  const { members, before, after } = item;
  return members.map((member) => {
    if (isUntold(item, member)) return `    ${member}: they differ`;
    const declared = sideOf(member, after);
    const stored = sideOf(member, before);
    return `    ${member}: ${declarerOf(item)} has ${declared}, the administrator ${stored}`;
  });
}

/** A credential; and what a canary asks, as no query stands in a log. */
function isUntold({ kind }: PlanItem, member: string): boolean {
  return member === credentialLabel(kind) || (kind === 'surfaces' && member === 'canary');
}

const sideCharactersMax = 160;

function sideOf(member: string, definition: Definition | null): string {
  const value = definition?.[member];
  if (value === undefined) return 'none';
  const text = JSON.stringify(value);
  return text.length <= sideCharactersMax ? text : `${text.slice(0, sideCharactersMax)}…`;
}
