// Rules of the `style` elements of a page, as far as selectors are of names, classes and ids. What
// they declare counts for the elements that they select, in their order.
import { type Declarations, readDeclarations } from './declarations.ts';

/** An element as selectors see it. */
export interface Selected {
  name: string;
  id: string;
  classes: readonly string[];
  parent: Selected | null;
}

/** One part of a selector, such as `p.note`; empty text: any. */
interface Compound {
  name: string;
  id: string;
  classes: readonly string[];
}

export interface Rule {
  /** From the outermost to the element itself. */
  compounds: readonly Compound[];
  css: Declarations;
}

/** More are not looked at. */
const rulesMax = 5_000;
const partsMax = 8;

/** Rules by what their last part asks for: few are compared with each element. */
export type Rules = ReadonlyMap<string, readonly Rule[]>;

export function readRules(styles: readonly string[]): Rules {
  const byKey = new Map<string, Rule[]>();
  let count = 0;
  for (const { selectors, body } of styles.flatMap((style) => blocksOf(style))) {
    const css = readDeclarations(body);
    for (const selector of selectors.split(',')) {
      const compounds = compoundsOf(selector);
      count += 1;
      if (compounds === null || count > rulesMax) continue;
      const key = keyOf(compounds.at(-1));
      const rules = byKey.get(key) ?? [];
      rules.push({ compounds, css });
      byKey.set(key, rules);
    }
  }
  return byKey;
}

/** Blocks outside of at-rules, and those for screens within. */
function blocksOf(style: string): { selectors: string; body: string }[] {
  const blocks: { selectors: string; body: string }[] = [];
  const text = style.replace(/\/\*[\s\S]*?\*\//g, ' ');
  const skipped: boolean[] = [];
  let from = 0;
  for (const { index, 0: brace } of text.matchAll(/[{}]/g)) {
    const before = text.slice(from, index).trim();
    from = index + 1;
    if (brace === '}') {
      if (skipped.pop() === undefined) continue;
      continue;
    }
    if (before.startsWith('@')) {
      skipped.push(!/^@(?:media\s+(?:screen|all|\(min-width)|layer|supports)/.test(before));
      continue;
    }
    const end = text.indexOf('}', from);
    const body = text.slice(from, end < 0 ? undefined : end);
    if (!skipped.includes(true)) blocks.push({ selectors: before, body });
    skipped.push(false);
  }
  return blocks;
}

/** Null: it asks for what is not known here, such as a state or a place. */
function compoundsOf(selector: string): Compound[] | null {
  const parts = selector
    .trim()
    .replace(/\s*>\s*/g, ' ')
    .split(/\s+/);
  if (parts.length > partsMax) return null;
  const compounds = parts.map((part): Compound | null => {
    const found = /^(\*|[a-z][a-z0-9-]*)?((?:[.#][\w-]+)*)$/i.exec(part);
    if (found === null || part === '') return null;
    const marks = found[2]?.match(/[.#][\w-]+/g) ?? [];
    const name = (found[1] ?? '').toLowerCase();
    return {
      name: name === '*' ? '' : name,
      id: marks.find((mark) => mark.startsWith('#'))?.slice(1) ?? '',
      classes: marks.filter((mark) => mark.startsWith('.')).map((mark) => mark.slice(1)),
    };
  });
  return compounds.includes(null) ? null : (compounds as Compound[]);
}

function keyOf(compound: Compound | undefined): string {
  if (compound === undefined) return '';
  const { name, id, classes } = compound;
  if (id !== '') return `#${id}`;
  return classes[0] === undefined ? name : `.${classes[0]}`;
}

/** What rules declare for an element, the later ones over the earlier. */
export function declaredFor(rules: Rules, element: Selected): Map<string, string> {
  const declared = new Map<string, string>();
  if (rules.size === 0) return declared;
  const { name, id, classes } = element;
  for (const key of ['', name, ...classes.map((each) => `.${each}`), `#${id}`]) {
    for (const { compounds, css } of rules.get(key) ?? []) {
      if (!doesSelect(compounds, element)) continue;
      for (const [property, value] of css) declared.set(property, value);
    }
  }
  return declared;
}

function doesSelect(compounds: readonly Compound[], element: Selected): boolean {
  const [own, ...outer] = [...compounds].reverse();
  if (own === undefined || !isOf(own, element)) return false;
  let around = element.parent;
  for (const compound of outer) {
    while (around !== null && !isOf(compound, around)) around = around.parent;
    if (around === null) return false;
    around = around.parent;
  }
  return true;
}

function isOf({ name, id, classes }: Compound, element: Selected): boolean {
  if ((name !== '' && name !== element.name) || (id !== '' && id !== element.id)) return false;
  return classes.every((each) => element.classes.includes(each));
}
