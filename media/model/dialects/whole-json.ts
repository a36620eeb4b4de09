// Whether the arguments of a call have all come: formats whose items end one after the other cannot
// wait for the answer's end to know it.
import { grown } from '../flat.ts';

const quote = 34;
const backslash = 92;
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * The arguments of one call as they come. Brackets are counted on the way: it is asked again and
 * again whether they are whole, and to read them anew each time takes the square of an answer.
 */
export class CallArguments {
  #text = '';
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  /** The outermost bracket was closed: nothing that follows makes JSON of what is none by then. */
  #isClosed = false;
  #isBroken = false;

  get text(): string {
    return this.#text;
  }

  add(delta: string): void {
    this.#text = grown(this.#text, delta);
    for (let at = 0; at < delta.length && !this.#isClosed; at += 1) {
      this.#read(delta.charCodeAt(at));
    }
  }

  /** False as long as more may follow. */
  get isWhole(): boolean {
    if (!this.#isClosed || this.#isBroken) return false;
    try {
      JSON.parse(this.#text);
      return true;
    } catch {
      this.#isBroken = true;
      return false;
    }
  }

  #read(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === backslash) this.#isEscaped = this.#isInText;
    else if (code === quote) this.#isInText = !this.#isInText;
    else if (this.#isInText) return;
    else if (code === openObject || code === openList) this.#depth += 1;
    else if (code === closeObject || code === closeList) {
      this.#depth -= 1;
      this.#isClosed = this.#depth <= 0;
    }
  }
}
