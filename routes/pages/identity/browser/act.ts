// What a person sets off: once at a time, with a sign while it lasts, and never without an end.
import { complain } from './dom.ts';

const failure = 'This page does not work in this browser.';

/** Runs it unless it is running; the element shows that it waits. */
export async function once(node: HTMLElement, act: () => Promise<void>): Promise<void> {
  if (node.getAttribute('aria-busy') === 'true') return;
  node.setAttribute('aria-busy', 'true');
  complain('');
  try {
    await act();
  } catch (error) {
    complain(failure);
    throw error;
  } finally {
    node.removeAttribute('aria-busy');
  }
}

export function onSubmit(form: HTMLFormElement, act: () => Promise<void>): void {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void once(form, act);
  });
}

export function onClick(node: HTMLElement, act: () => Promise<void>): void {
  node.addEventListener('click', () => void once(node, act));
}
