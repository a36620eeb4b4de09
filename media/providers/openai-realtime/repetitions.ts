// An event that is told twice in a row. Its id alone does not say so: a server that gives one id to
// several events is believed in everything but its ids, or steady sound would be lost.

const eventIdMember = /"event_id": ?"([^"\\]+)"/;

/** Empty: it has none. */
export function eventIdOf(text: string): string {
  return eventIdMember.exec(text)?.[1] ?? '';
}

export class Repetitions {
  #eventId = '';
  #text = '';
  #audio: string | null = null;
  /** No two events had the same id. */
  #areIdsDistinct = true;

  /** `text`: what it says, with its audio apart. */
  isRepeated(eventId: string, text: string, audio: string | null): boolean {
    const isSameId = eventId !== '' && eventId === this.#eventId;
    const isSame = isSameId && text === this.#text && audio === this.#audio;
    if (isSameId && !isSame) this.#areIdsDistinct = false;
    this.#eventId = eventId;
    this.#text = text;
    this.#audio = audio;
    return isSame && this.#areIdsDistinct;
  }
}
