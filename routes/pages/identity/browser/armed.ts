// A press counts only when the page was in front for a moment. A page of somebody else may lie over
// ours, and vanish between the two presses of a double click: the second would allow something.
import { complain } from './dom.ts';

const frontMs = 500;

export class Armed {
  #frontSinceMs = performance.now();

  constructor() {
    const toFront = () => {
      this.#frontSinceMs = performance.now();
    };
    addEventListener('focus', toFront);
    document.addEventListener('visibilitychange', toFront);
  }

  onPress(button: HTMLButtonElement, act: () => void): void {
    button.addEventListener('click', (event) => {
      // Keys have no place that somebody could choose.
      const isByKey = event.detail === 0;
      if (isByKey || event.timeStamp - this.#frontSinceMs >= frontMs) act();
      else complain('The page has only just come to the front. Read it, and press again.');
    });
  }
}
