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
  #audio: Buffer | null = null;
  /** No two events had the same id. */
  #areIdsDistinct = true;

  /**
   * `text`: what it says, with its audio apart and decoded: as text it is 5 KB a session that each
   * collection of short-lived objects would copy, nearly all that survives them.
   */
  isRepeated(eventId: string, text: string, audio: Buffer | null): boolean {
    const isSameId = eventId !== '' && eventId === this.#eventId;
    const isSame = isSameId && text === this.#text && isSameAudio(audio, this.#audio);
    if (isSameId && !isSame) this.#areIdsDistinct = false;
    this.#eventId = eventId;
    this.#text = text;
    this.#audio = audio;
    return isSame && this.#areIdsDistinct;
  }
}

function isSameAudio(one: Buffer | null, other: Buffer | null): boolean {
  return one === null || other === null ? one === other : one.equals(other);
}
