// The content blocks of one stream in the order of their appearance. Only the first of them is open
// on the wire; the others keep their events until the blocks before them are closed. A tool's block
// is done when its arguments are whole JSON: upstreams may write several calls in turns.
import { flat } from '../../flat.ts';
import { escapeText } from '../text-deltas.ts';
import { CallArguments } from '../whole-json.ts';
import { textBlock, thinkingBlock } from './blocks.ts';

interface Block {
  kind: 'text' | 'refusal' | 'thinking' | 'tool' | 'native';
  index: number;
  /** Events of a block that is not open yet. */
  waiting: string;
  /** Tools only. */
  arguments: CallArguments | null;
  /** Text that a citation has ended: more of it is another block. */
  ended: boolean;
  /** Nothing more of it can come. */
  done: boolean;
}

type Members = Record<string, unknown>;

const stringClose = '"}}\n\n';
/** Blocks whose input is streamed after them. */
const inputTypes: ReadonlySet<unknown> = new Set(['server_tool_use', 'mcp_tool_use']);

export class BlockQueue {
  /** Around the text of a delta while its block is open and goes on; empty: it is not. */
  textOpen = '';
  readonly textClose = stringClose;
  /** The first is open on the wire. */
  readonly #blocks: Block[] = [];
  readonly #tools = new Map<number, Block>();
  /** Announced ones, while they last. */
  readonly #natives = new Map<number, Block>();
  /** The block that more text or thinking belongs to. */
  #last: Block | null = null;
  #count = 0;
  #out = '';

  /** What is to be written, once. */
  take(): string {
    const out = this.#out;
    this.#out = '';
    return out;
  }

  text(kind: 'text' | 'refusal', text: string): void {
    let block = this.#last;
    if (block?.kind !== kind || block.ended) block = this.#begin(kind, textBlock('', null));
    this.#write(
      block,
      deltaOpen(block.index, 'text_delta', 'text') + escapeText(text) + stringClose,
    );
    if (kind === 'text' && block === this.#blocks[0]) {
      this.textOpen = flat(deltaOpen(block.index, 'text_delta', 'text'));
    }
  }

  /** A block of text begins, whatever was written before; `cited`: its provider may cite there. */
  beginText(cited: boolean): void {
    this.#begin('text', textBlock('', cited ? [] : null));
  }

  /** Of a text only: elsewhere it belongs to nothing. */
  citation(citation: Members): void {
    const block = this.#last;
    if (block?.kind !== 'text') return;
    this.#write(block, deltaEvent(block.index, { type: 'citations_delta', citation }));
  }

  /** Further text is another block. */
  endText(): void {
    if (this.#last?.kind !== 'text') return;
    this.#last.ended = true;
    this.textOpen = '';
  }

  thinking(text: string): void {
    let block = this.#last;
    if (block?.kind !== 'thinking') block = this.#begin('thinking', thinkingBlock('', ''));
    const open = deltaOpen(block.index, 'thinking_delta', 'thinking');
    this.#write(block, open + escapeText(text) + stringClose);
  }

  thinkingEnd(signature: string): void {
    let block = this.#last;
    if (block?.kind !== 'thinking') block = this.#begin('thinking', thinkingBlock('', ''));
    if (signature !== '') {
      this.#write(block, deltaEvent(block.index, { type: 'signature_delta', signature }));
    }
    this.#leaveLast();
    this.#advance();
  }

  /** `start`: the block without its input. */
  tool(index: number, start: Members): void {
    const block = this.#begin('tool', start);
    block.arguments = new CallArguments();
    this.#tools.set(index, block);
  }

  toolArguments(index: number, text: string): void {
    const block = this.#tools.get(index);
    if (block === undefined || block.done) return;
    if (block.arguments !== null) block.arguments.add(text);
    const open = deltaOpen(block.index, 'input_json_delta', 'partial_json');
    this.#write(block, open + escapeText(text) + stringClose);
    if (this.#blocks.length > 1) this.#advance();
  }

  /** Null: a block that only another format can show; text after it is another block. */
  native(value: Members | null): void {
    if (value === null) {
      this.#leaveLast();
      return;
    }
    const { input } = value;
    const streamed = inputTypes.has(value.type) && input !== undefined;
    const block = this.#begin('native', streamed ? { ...value, input: {} } : value);
    if (streamed) {
      const delta = { type: 'input_json_delta', partial_json: JSON.stringify(input) };
      this.#write(block, deltaEvent(block.index, delta));
    }
    this.#leaveLast();
    this.#advance();
  }

  /** A block whose deltas and end follow. */
  nativeBegin(index: number, value: Members): void {
    this.#natives.set(index, this.#begin('native', value));
  }

  nativeDelta(index: number, delta: Members): void {
    const block = this.#natives.get(index);
    if (block !== undefined && !block.done) this.#write(block, deltaEvent(block.index, delta));
  }

  nativeEnd(index: number): void {
    const block = this.#natives.get(index);
    this.#natives.delete(index);
    if (block === undefined || block !== this.#last) return;
    this.#leaveLast();
    this.#advance();
  }

  /** The end of the answer: whatever waits is written. */
  closeAll(): void {
    for (const block of this.#blocks) block.done = true;
    this.#leaveLast();
    this.#advance();
  }

  #begin(kind: Block['kind'], start: Members): Block {
    this.#leaveLast();
    const index = this.#count;
    this.#count += 1;
    const event = sse('content_block_start', { index, content_block: start });
    const block: Block = { kind, index, waiting: '', arguments: null, ended: false, done: false };
    this.#blocks.push(block);
    this.#last = block;
    this.#write(block, event);
    if (this.#blocks.length > 1) this.#advance();
    return block;
  }

  /** Nothing more is added to the last block, except the arguments of a tool. */
  #leaveLast(): void {
    if (this.#last !== null && this.#last.kind !== 'tool') this.#last.done = true;
    this.#last = null;
    this.textOpen = '';
  }

  #write(block: Block, event: string): void {
    if (block === this.#blocks[0]) this.#out += event;
    else block.waiting += event;
  }

  /** Closes blocks from the first on as long as they are done, and opens the next. */
  #advance(): void {
    for (;;) {
      const [open, next] = this.#blocks;
      if (open === undefined) return;
      if (!open.done && next !== undefined && open.kind === 'tool') {
        open.done = open.arguments?.isWhole === true;
      }
      if (!open.done) return;
      this.#out += sse('content_block_stop', { index: open.index });
      this.#blocks.shift();
      if (next === undefined) return;
      this.#out += next.waiting;
      next.waiting = '';
    }
  }
}

/** One event with its name, as this format has it; `members` besides its type. */
export function sse(type: string, members: Members): string {
  return eventOf(type, JSON.stringify(members));
}

/**
 * The same of members that are text already. The type is put in front of the text: a spread with
 * new members behind it takes V8's slow way, six times a stream.
 */
export function eventOf(type: string, membersJson: string): string {
  const rest = membersJson === '{}' ? '}' : `,${membersJson.slice(1)}`;
  return `event: ${type}\ndata: {"type":"${type}"${rest}\n\n`;
}

/** A delta up to its one member that is a string. */
function deltaOpen(index: number, type: string, member: string): string {
  const event = 'event: content_block_delta\ndata: {"type":"content_block_delta"';
  return `${event},"index":${index},"delta":{"type":"${type}","${member}":"`;
}

function deltaEvent(index: number, delta: Members): string {
  return sse('content_block_delta', { index, delta });
}
