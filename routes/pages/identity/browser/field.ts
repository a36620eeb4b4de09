// A field of a form, with the place under it where it is said what is wrong.
import { element, setText } from './dom.ts';

export class Field {
  readonly input: HTMLInputElement;
  readonly #error: HTMLElement;

  /** The page has `ID-error` for it, which describes it. */
  constructor(id: string) {
    this.input = element(id, HTMLInputElement);
    this.#error = element(`${id}-error`, HTMLElement);
    // What is being mended is wrong no more.
    this.input.addEventListener('input', () => this.clear());
  }

  get value(): string {
    return this.input.value.trim();
  }

  /** Says it, and leads there. */
  fail(text: string): void {
    this.input.setAttribute('aria-invalid', 'true');
    setText(this.#error, text);
    this.input.focus();
  }

  clear(): void {
    this.input.removeAttribute('aria-invalid');
    setText(this.#error, '');
  }
}

/** Only what no address is without: the server knows the rest. */
export function looksLikeAddress(text: string): boolean {
  return /^[^\s@]+@[^\s@]+$/.test(text);
}
