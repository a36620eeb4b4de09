// Elements of the page: found by their ids, and made with their text. Text is never markup.

/** An element that page.html has; a missing one is a bug of this page. */
export function element<E extends HTMLElement>(id: string, type: new () => E): E {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`page.html lacks #${id}`);
  return found;
}

interface Members {
  className?: string;
  text?: string;
}

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  { className, text }: Members = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  if (className !== undefined) node.className = className;
  if (text !== undefined) node.textContent = text;
  node.append(...children);
  return node;
}

export function button(text: string, act: () => void, className = 'small'): HTMLButtonElement {
  const made = make('button', { className, text });
  made.type = 'button';
  made.addEventListener('click', act);
  return made;
}

/** Only when it differs: a live region is read out for every change of its nodes. */
export function setText(node: HTMLElement, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** A message that is gone when there is nothing to say. */
export function tell(node: HTMLElement, text: string): void {
  setText(node, text);
  node.hidden = text === '';
}
