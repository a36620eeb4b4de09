// What a text is, for each kind may be treated in its own way only. In doubt it is source text,
// which loses nothing: an agent's edit quotes a file byte for byte.
import { isJsonDocument } from './json-text.ts';

/** `source`: code, a diff, a file that was read. `lines`: logs, listings. `prose`: long lines. */
export type TextKind = 'json' | 'source' | 'diff' | 'lines' | 'prose';

const LINES_SAMPLED = 80;
const SOURCE_SHARE = 0.4;
const PROSE_CHARACTERS = 160;
const SOURCE_WORDS =
  'import|from|def|class|func|fn|const|let|var|public|private|return|if|for|while|use|type|export';
const SOURCE_LINE = new RegExp(
  `[{};,(]\\s*$|^\\s*(?:${SOURCE_WORDS})\\b|^\\s*(?://|#include|\\*/|/\\*)`,
);
/** Line numbers as tools that read files put them: `  12\t`, `12: `, `12|`, `12→`. */
const LINE_NUMBER = /^\s*\d+(?:\t|[:|→] ?)/;

export function kindOf(text: string, lines: readonly string[]): TextKind {
  if (isJsonDocument(text)) return 'json';
  let seen = 0;
  let source = 0;
  let characters = 0;
  for (let index = 0; index < lines.length && seen < LINES_SAMPLED; index += 1) {
    const line = lines[index] ?? '';
    if (line === '') continue;
    if (line.startsWith('@@ -') || line.startsWith('diff --git ')) return 'diff';
    seen += 1;
    characters += line.length;
    if (line.length < 400 && SOURCE_LINE.test(withoutLineNumber(line))) source += 1;
  }
  if (seen > 0 && source / seen >= SOURCE_SHARE) return 'source';
  return characters > seen * PROSE_CHARACTERS ? 'prose' : 'lines';
}

export function withoutLineNumber(line: string): string {
  const code = line.charCodeAt(0);
  const mayHave = code === 0x20 || code === 0x09 || (code >= 0x30 && code <= 0x39);
  return mayHave ? line.replace(LINE_NUMBER, '') : line;
}

const READS_FILE = /read|view|cat$|open|get_?file|file_?content/i;
const READS_PAGE = /web|url|page|http|browse|search|log/i;
const PRINTS_FILE = /"\s*(?:cat|nl|head|tail|bat|sed -n)\s[^"|;&]*\.\w/;

/** Whether the call has read a file, whose bytes a later edit may have to quote. */
export function readsFile(call: { name: string; arguments: string } | null): boolean {
  if (call === null) return false;
  if (READS_FILE.test(call.name) && !READS_PAGE.test(call.name)) return true;
  return PRINTS_FILE.test(call.arguments.slice(0, 512));
}
