// The line's last 30 seconds: what waited to be played as an area, each answer as a dot where it
// began, as high as the time it took. Both in milliseconds, on one scale.
import { sized } from './orb.ts';
import { SPAN_MS, type Timings } from './timings.ts';

const STEPS_MS = [500, 1_000, 2_000, 5_000, 10_000, 20_000];
const LABEL_PX = 11;

export class Graph {
  readonly #canvas: HTMLCanvasElement;

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas;
  }

  draw(nowMs: number, { readings, answers }: Timings): void {
    const context = sized(this.#canvas);
    if (context === null) return;
    const style = getComputedStyle(this.#canvas);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    const { width, height } = this.#canvas;
    const ratio = devicePixelRatio;
    const most = Math.max(
      ...readings.map(({ bufferedMs }) => bufferedMs),
      ...answers.map(({ latencyMs }) => latencyMs),
      0,
    );
    const top = STEPS_MS.find((step) => step >= most * 1.1) ?? most * 1.1;
    const bottom = height - 4 * ratio;
    const x = (atMs: number) => width * (1 - (nowMs - atMs) / SPAN_MS);
    const y = (valueMs: number) => bottom - (valueMs / top) * (bottom - 18 * ratio);
    context.clearRect(0, 0, width, height);
    context.lineWidth = ratio;
    context.font = `${LABEL_PX * ratio}px system-ui, sans-serif`;
    context.fillStyle = colour('--soft');
    context.strokeStyle = colour('--line');
    for (const value of [0, top / 2, top]) {
      const line = Math.round(y(value)) + 0.5;
      context.beginPath();
      context.moveTo(0, line);
      context.lineTo(width, line);
      context.stroke();
      if (value > 0) context.fillText(label(value), 0, line - 4 * ratio);
    }
    this.#legend(context, ratio, colour);
    const [first] = readings;
    if (first !== undefined) {
      context.beginPath();
      context.moveTo(x(first.atMs), bottom);
      for (const { atMs, bufferedMs } of readings) context.lineTo(x(atMs), y(bufferedMs));
      context.lineTo(x(readings.at(-1)?.atMs ?? nowMs), bottom);
      context.fillStyle = colour('--voice');
      context.globalAlpha = 0.35;
      context.fill();
      context.globalAlpha = 1;
    }
    context.fillStyle = colour('--accent');
    for (const { atMs, latencyMs } of answers) {
      context.beginPath();
      context.arc(x(atMs), y(latencyMs), 4 * ratio, 0, 2 * Math.PI);
      context.fill();
    }
  }

  #legend(
    context: CanvasRenderingContext2D,
    ratio: number,
    colour: (name: string) => string,
  ): void {
    let right = this.#canvas.width;
    for (const [text, name] of [
      ['buffered', '--voice'],
      ['answer time', '--accent'],
    ] as const) {
      right -= context.measureText(text).width;
      context.fillStyle = colour('--soft');
      context.fillText(text, right, LABEL_PX * ratio);
      right -= 8 * ratio;
      context.fillStyle = colour(name);
      context.beginPath();
      context.arc(right, (LABEL_PX - 4) * ratio, 3.5 * ratio, 0, 2 * Math.PI);
      context.fill();
      right -= 14 * ratio;
    }
  }
}

function label(valueMs: number): string {
  return valueMs < 1_000 ? `${valueMs} ms` : `${valueMs / 1_000} s`;
}
