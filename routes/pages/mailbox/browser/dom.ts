// Elements of the page: found by their ids, and made with their text. Text is never markup.

/** An element that page.html has; a missing one is a bug of this page. */
export function element<E extends HTMLElement>(id: string, type: new () => E): E {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`page.html lacks #${id}`);
  return found;
}

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className: string,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  if (className !== '') node.className = className;
  node.append(...children);
  return node;
}

/** A message that is gone when there is nothing to say; told again only when it differs. */
export function tell(node: HTMLElement, text: string): void {
  if (node.textContent !== text) node.textContent = text;
  node.hidden = text === '';
}
