// A description on a time line: the frames that were looked at, the segments below them, and where
// the player is. All of them seek it, where there is something to play.
import { element, make, setText } from './dom.ts';
import { drawStills } from './stills.ts';
import { clockText, spanText, spokenText } from './text.ts';
import type { Segment, Source } from './wire.ts';

export interface Shown {
  source: Source;
  segments: readonly Segment[];
  /** Where the pictures are read; null: there is nothing to play. */
  url: string | null;
}

export class Film {
  readonly #seek: (seconds: number) => void;
  readonly #frames = element('frames', HTMLOListElement);
  readonly #track = element('track', HTMLElement);
  readonly #segments = element('segments', HTMLOListElement);
  readonly #needle = make('i', { className: 'needle' });
  #drawing: AbortController | null = null;
  #shown: Shown | null = null;

  constructor(seek: (seconds: number) => void) {
    this.#seek = seek;
    // Scrolled by the keyboard, which not every browser offers by itself.
    this.#frames.tabIndex = 0;
  }

  show(shown: Shown): void {
    this.clear();
    this.#shown = shown;
    const { source, segments, url } = shown;
    const places = source.frames.map((seconds) => ({ seconds, canvas: make('canvas') }));
    for (const { seconds, canvas } of places) {
      canvas.hidden = url === null;
      const label = make('span', { text: clockText(seconds) });
      this.#frames.append(make('li', {}, this.#place(seconds, 'Frame at', canvas, label)));
      this.#track.append(this.#mark('frame', seconds, seconds));
    }
    for (const segment of segments) this.#addSegment(segment);
    this.#track.append(this.#needle);
    this.showTime(0);
    if (url === null) return;
    this.#drawing = new AbortController();
    void drawStills(url, places, this.#drawing.signal);
  }

  clear(): void {
    this.#drawing?.abort();
    this.#drawing = null;
    this.#shown = null;
    for (const list of [this.#frames, this.#track, this.#segments]) list.replaceChildren();
  }

  /** Where the player is. */
  showTime(seconds: number): void {
    if (this.#shown === null) return;
    const { source, segments, url } = this.#shown;
    this.#needle.hidden = url === null;
    this.#needle.style.left = percent(seconds, source);
    const now = segments.findLastIndex(({ start_seconds }) => start_seconds <= seconds);
    const isWithin = url !== null && now >= 0 && seconds <= (segments[now]?.end_seconds ?? 0);
    for (const [index, item] of [...this.#segments.children].entries()) {
      const isNow = isWithin && index === now;
      if (isNow) item.setAttribute('aria-current', 'true');
      else item.removeAttribute('aria-current');
    }
  }

  #addSegment({ start_seconds: start, end_seconds: end, description }: Segment): void {
    const times = make('span', { className: 'times' });
    setText(times, spanText(start, end));
    const words = make('span', { text: description });
    this.#segments.append(make('li', {}, this.#place(start, 'Segment from', times, words)));
    this.#track.append(this.#mark('part', start, end));
  }

  /** A button that seeks; nothing to press where there is nothing to play. */
  #place(seconds: number, what: string, ...children: Node[]): HTMLElement {
    if (this.#shown?.url == null) return make('div', { className: 'place' }, ...children);
    const made = make('button', { className: 'place' }, ...children);
    made.type = 'button';
    made.title = `${what} ${spokenText(seconds)}: play from here`;
    made.addEventListener('click', () => this.#seek(seconds));
    return made;
  }

  #mark(className: string, from: number, to: number): HTMLElement {
    const mark = make('i', { className });
    const source = this.#shown?.source;
    if (source === undefined) return mark;
    mark.style.left = percent(from, source);
    if (to > from) mark.style.width = percent(to - from, source);
    return mark;
  }
}

function percent(seconds: number, { duration_seconds }: Source): string {
  const part = seconds / Math.max(duration_seconds, 0.001);
  return `${Math.min(100, Math.max(0, 100 * part)).toFixed(3)}%`;
}
