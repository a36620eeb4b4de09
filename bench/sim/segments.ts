// Puts the events of a stream together from runs: fixed events, and counted ones that are rendered
// when they leave. A million deltas are one run and cost nothing before they are sent.

export interface Segment {
  count: number;
  /** `offset` counts inside the segment, `index` over the whole stream. */
  event(offset: number, index: number): string;
}

/** One event whose text may hold its number in the stream. */
export function single(render: (index: number) => string): Segment {
  return { count: 1, event: (_, index) => render(index) };
}

export function fixed(...events: string[]): Segment {
  return { count: events.length, event: (offset) => events[offset] ?? '' };
}

/** Events are asked for in order, so the segment at hand is remembered. */
export function joinSegments(segments: readonly Segment[]): {
  count: number;
  event(index: number): string;
} {
  let at = 0;
  let start = 0;
  const event = (index: number): string => {
    if (index < start) {
      at = 0;
      start = 0;
    }
    for (let segment = segments[at]; segment !== undefined; segment = segments[at]) {
      if (index < start + segment.count) return segment.event(index - start, index);
      start += segment.count;
      at += 1;
    }
    return '';
  };
  return { count: segments.reduce((sum, segment) => sum + segment.count, 0), event };
}
