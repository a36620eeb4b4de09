// Whether the arguments of a call have all come: formats whose items end one after the other cannot
// wait for the answer's end to know it.

/** The arguments of one call as they come. */
export class CallArguments {
  text = '';
  /** How long they were when they were last found not to be whole. */
  #lengthTried = 0;

  /**
   * False as long as more may follow. It is asked again and again while others come, and to read
   * those that a model has written badly anew each time takes the square of an answer.
   */
  get isWhole(): boolean {
    if (this.text.length === this.#lengthTried) return false;
    this.#lengthTried = this.text.length;
    if (!this.text.trimEnd().endsWith('}')) return false;
    try {
      JSON.parse(this.text);
    } catch {
      return false;
    }
    this.#lengthTried = 0;
    return true;
  }
}
