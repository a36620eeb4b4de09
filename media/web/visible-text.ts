// The text of a page that a person sees, as far as HTML and the styles in it tell. What is doubtful
// is left out: it is looked for by whoever wants to prove that it is there.
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import {
  isHiding,
  isUnseen,
  page,
  readDeclarations,
  type Surroundings,
  surroundingsOf,
} from './declarations.ts';
import { tidyText } from './invisible.ts';
import { declaredFor, type Rules, readRules, type Selected } from './rules.ts';

type Node = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;

/** Nothing in them is text of the page. */
const silent = new Set([
  ...['head', 'script', 'style', 'noscript', 'template', 'iframe', 'object', 'embed', 'canvas'],
  ...['audio', 'video', 'svg', 'math', 'select', 'datalist', 'textarea', 'input', 'button'],
  ...['noframes', 'noembed', 'title', 'map', 'rp', 'xmp', 'plaintext', 'frameset'],
]);
/** Words on both sides of them are parted by no line. */
const inline = new Set([
  ...['a', 'abbr', 'b', 'bdi', 'bdo', 'cite', 'code', 'data', 'del', 'dfn', 'em', 'font', 'i'],
  ...['ins', 'kbd', 'label', 'mark', 'q', 's', 'samp', 'small', 'span', 'strong', 'sub', 'sup'],
  ...['time', 'tt', 'u', 'var', 'wbr', 'big', 'strike', 'nobr'],
]);

interface Around {
  selected: Selected | null;
  surroundings: Surroundings;
}
type Step = { node: Node; around: Around } | 'line';

/** The same of a text without markup. */
export function visibleText(text: string): string {
  return tidyText(text);
}

/** The text of HTML. Elements are looked at one after the other: no nesting is too deep. */
export function visibleTextOfHtml(html: string): string {
  const document = parse(html);
  const rules = readRules(stylesOf(document.childNodes));
  const pieces: string[] = [];
  const around: Around = { selected: null, surroundings: page };
  const steps: Step[] = [];
  const push = (nodes: readonly Node[], inside: Around) => {
    for (let at = nodes.length - 1; at >= 0; at -= 1) {
      const node = nodes[at];
      if (node !== undefined) steps.push({ node, around: inside });
    }
  };
  push(document.childNodes, around);
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    if (step === 'line') {
      pieces.push('\n');
      continue;
    }
    const { node } = step;
    const { surroundings } = step.around;
    if ('value' in node && !isUnseen(surroundings)) pieces.push(node.value.replace(/\s+/g, ' '));
    if (!('tagName' in node)) continue;
    const inside = enter(node, step.around, rules);
    if (inside === null) continue;
    const isLine = !inline.has(node.tagName);
    if (isLine) {
      pieces.push('\n');
      steps.push('line');
    }
    push(node.childNodes, inside);
  }
  return tidyText(pieces.join(''));
}

/** What is around those in the element; null: nothing in it is seen. */
function enter(element: Element, around: Around, rules: Rules): Around | null {
  const { tagName } = element;
  if (silent.has(tagName)) return null;
  const attributes = new Map(element.attrs.map(({ name, value }) => [name, value]));
  if (isHiddenByAttribute(tagName, attributes)) return null;
  const selected: Selected = {
    name: tagName,
    id: attributes.get('id') ?? '',
    classes: (attributes.get('class') ?? '').split(/\s+/).filter((each) => each !== ''),
    parent: around.selected,
  };
  const css = declaredFor(rules, selected);
  const presented = [
    ['color', attributes.get('color') ?? attributes.get('text')],
    ['background-color', attributes.get('bgcolor')],
  ] as const;
  for (const [name, value] of presented) if (value !== undefined) css.set(name, value);
  const own = readDeclarations(attributes.get('style') ?? '');
  for (const [name, value] of own) css.set(name, value);
  if (isHiding(css)) return null;
  return { selected, surroundings: surroundingsOf(css, around.surroundings) };
}

function isHiddenByAttribute(tagName: string, attributes: ReadonlyMap<string, string>): boolean {
  if (attributes.has('hidden') || attributes.has('inert')) return true;
  if (attributes.get('aria-hidden')?.trim().toLowerCase() === 'true') return true;
  const isClosed = tagName === 'dialog' || tagName === 'details';
  if ((isClosed && !attributes.has('open')) || attributes.has('popover')) return true;
  // Text of the screen reader alone, and of a marquee that has gone by.
  return attributes.get('width') === '0' || attributes.get('height') === '0';
}

/** The texts of all `style` elements. */
function stylesOf(nodes: readonly Node[]): string[] {
  const styles: string[] = [];
  const open: Node[] = [...nodes];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!('tagName' in node)) continue;
    if (node.tagName === 'style') {
      styles.unshift(
        node.childNodes.map((child) => ('value' in child ? child.value : '')).join(''),
      );
    }
    for (const child of node.childNodes) open.push(child);
  }
  return styles;
}
