// Elements of a page: found by their ids, and made with their text. Text is never markup.

/** An element that the page has; a missing one is a bug of the page. */
export function element<E extends HTMLElement>(id: string, type: new () => E): E {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page lacks #${id}`);
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

/** A time that a machine can read, too. */
export function moment(time: string, text: string): HTMLTimeElement {
  const made = make('time', { text });
  made.dateTime = time;
  return made;
}

/** Only when it differs: a live region is read out for every change of its nodes. */
export function setText(node: HTMLElement, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** Says what has happened, to who cannot see it. */
export function announce(text: string): void {
  setText(element('news', HTMLElement), text);
}

/** Says what is wrong with no field in particular; nothing: all is well. */
export function complain(text: string): void {
  setText(element('problem', HTMLElement), text);
}

/** Shows one of the steps of a page; what is read first in it has the focus. */
export function showStep(id: string, focus: HTMLElement): void {
  for (const step of document.querySelectorAll<HTMLElement>('.step')) step.hidden = step.id !== id;
  const heading = document.querySelector(`#${id} h1`);
  // Some words of a heading are for another occasion.
  const words = [...(heading?.children ?? [])].find((part) => part.checkVisibility()) ?? heading;
  const [, site = ''] = document.title.split(' · ');
  document.title = `${words?.textContent ?? ''} · ${site}`;
  focus.focus();
}
