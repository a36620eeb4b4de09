// What a Realtime session sends: ids, events with theirs, and strangers mixed in when asked for.
import type { SimLink } from '../contract.ts';
import type { Members } from '../members.ts';
import { unknownTail } from '../unknown.ts';

export class Outlet {
  readonly link: SimLink;
  /** Unknown events and members are mixed in. */
  strange = false;
  /** Nothing leaves any more. */
  muted = false;
  readonly #idTail: string;
  #ids = 0;

  constructor(link: SimLink) {
    this.link = link;
    this.#idTail = link.id(16);
  }

  freshId(prefix: string): string {
    this.#ids += 1;
    return `${prefix}_${this.#idTail}${this.#ids.toString(36).padStart(4, '0')}`;
  }

  emit(type: string, members: Members): void {
    this.write(type, JSON.stringify(members).slice(1, -1));
  }

  error(error: object): void {
    this.emit('error', { error });
  }

  /** `members` as JSON without braces; `eventId` instead of a fresh one. */
  write(type: string, members: string, eventId = this.freshId('event')): void {
    const head = `{"type":"${type}","event_id":"${eventId}"`;
    const rest = members === '' ? '' : `,${members}`;
    if (!this.strange) {
      this.raw(`${head}${rest}}`);
      return;
    }
    this.raw(`{"type":"sim.${type}","event_id":"${this.freshId('event')}"${unknownTail}}`);
    this.raw(`${head}${rest}${unknownTail}}`);
  }

  raw(text: string): void {
    if (!this.muted) this.link.send(text, false);
  }
}
