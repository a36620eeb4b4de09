// The texts of sealed messages as drafts: what the lossless steps make of each, in the order of the
// conversation, for each may refer to those before it.
import type { Message } from '../request.ts';
import type { Segment } from './boundary.ts';
import { type Draft, draftOf, type TextJob, type Workbench } from './texts.ts';

type Call = Message['toolCalls'][number];

/** A text that may change. */
export interface Candidate {
  message: number;
  part: number;
  segment: Segment;
  before: string;
  draft: Draft;
}

const ARGUMENTS_SHOWN_MAX = 80;
const WORDS_SHOWN_MAX = 48;

/** Makes the drafts of one segment after the other. */
export class Drafting {
  private readonly messages: readonly Message[];
  private readonly bench: Workbench;
  private readonly calls = new Map<string, Call>();

  constructor(messages: readonly Message[], bench: Workbench) {
    this.messages = messages;
    this.bench = bench;
  }

  /** Only what a draft changes, or extraction may. */
  candidates(segment: Segment): Candidate[] {
    const found: Candidate[] = [];
    for (let index = segment.from; index < segment.to; index += 1) {
      const message = this.messages[index];
      if (message === undefined) continue;
      for (const call of message.toolCalls) this.calls.set(call.id, call);
      if (message.role !== 'user' && message.role !== 'tool') continue;
      for (const [part, job] of this.jobs(message)) {
        const draft = draftOf(job, this.bench);
        if (draft.text === job.text && draft.prunable === null) continue;
        found.push({ message: index, part, segment, before: job.text, draft });
      }
    }
    return found;
  }

  private jobs(message: Message): [number, TextJob][] {
    const isTool = message.role === 'tool';
    const call = isTool ? (this.calls.get(message.toolCallId ?? '') ?? null) : null;
    const tool = isTool ? { call, hasFailed: message.toolFailed === true } : null;
    return message.parts.flatMap((part, index): [number, TextJob][] => {
      if (part.type !== 'text' || part.text === '') return [];
      const { text } = part;
      return [[index, { text, name: isTool ? resultName(call) : userName(text), tool }]];
    });
  }
}

function resultName(call: Call | null): string {
  if (call === null) return 'an earlier tool result';
  const shown = shortened(call.arguments, ARGUMENTS_SHOWN_MAX);
  return `the earlier result of ${call.name} ${shown}`.trimEnd();
}

function userName(text: string): string {
  return `the earlier user message that begins "${shortened(text.trimStart(), WORDS_SHOWN_MAX)}"`;
}

function shortened(text: string, charactersMax: number): string {
  const line = text.slice(0, charactersMax * 4).replace(/\s+/g, ' ');
  const characters = [...line];
  if (characters.length <= charactersMax) return line;
  return `${characters.slice(0, charactersMax).join('')}…`;
}
