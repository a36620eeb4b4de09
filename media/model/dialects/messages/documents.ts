// Documents in pieces and search results of a body → text documents, which other formats know too.
// Upstreams of this format are told the block as it was.
import type { ContentPart } from '../../request.ts';
import { passthroughOf } from '../passthrough.ts';

type Members = Record<string, unknown>;

const marks: ReadonlySet<string> = new Set(['__proto__', 'cache_control']);

/** Null: another block, or one that holds more than text. */
export function readTextDocument(block: Members): Extract<ContentPart, { type: 'file' }> | null {
  const { type, title, source, content } = block;
  const isResult = type === 'search_result';
  const name = !isResult && typeof title === 'string' ? title : null;
  const text = isResult ? textOf(content) : textOf((Object(source) as Members).content);
  if (text === null || (type !== 'document' && !isResult)) return null;
  const head = isResult ? [title, source].filter((line) => typeof line === 'string') : [];
  const base64 = Buffer.from([...head, text].join('\n')).toString('base64');
  const url = `data:text/plain;charset=utf-8;base64,${base64}`;
  return { type: 'file', url, name, ...passthroughOf('messages', block, marks) };
}

function textOf(content: unknown): string | null {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  const texts = content.map((piece: unknown) => {
    const { type, text } = Object(piece) as Members;
    return type === 'text' && typeof text === 'string' ? text : null;
  });
  return texts.includes(null) ? null : texts.join('\n');
}
