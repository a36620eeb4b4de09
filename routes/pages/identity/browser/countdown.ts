// A button that may not be pressed yet, and says how long.
import { setText } from './dom.ts';

const everyMs = 1_000;

export class Countdown {
  readonly #button: HTMLButtonElement;
  readonly #text: string;
  #timer: number | undefined;

  constructor(button: HTMLButtonElement) {
    this.#button = button;
    this.#text = button.textContent ?? '';
  }

  /** Until then the button is still; it waits by the clock, as timers of hidden pages stand. */
  until(whenMs: number): void {
    clearInterval(this.#timer);
    const show = () => {
      const left = Math.ceil((whenMs - Date.now()) / everyMs);
      this.#button.disabled = left > 0;
      setText(this.#button, left > 0 ? `${this.#text} (in ${left} s)` : this.#text);
      if (left <= 0) clearInterval(this.#timer);
    };
    this.#timer = setInterval(show, everyMs);
    show();
  }
}
