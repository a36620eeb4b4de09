// Piscina task: what of a page is visible text, and its print. A page of 512 KiB takes longer than
// a shard may.
import '../../runtime/work/background.ts';
import { printOf } from '../web/print.ts';
import { visibleText, visibleTextOfHtml } from '../web/visible-text.ts';

export interface ReadPageInput {
  text: string;
  isHtml: boolean;
}

export interface ReadPage {
  text: string;
  /** 64 bits, as a decimal with its sign. */
  print: string;
}

// biome-ignore lint/style/noDefaultExport: Piscina runs a file's default export
export default function readPageTask({ text, isHtml }: ReadPageInput): ReadPage {
  const visible = isHtml ? visibleTextOfHtml(text) : visibleText(text);
  return { text: visible, print: BigInt.asIntN(64, printOf(visible)).toString() };
}
