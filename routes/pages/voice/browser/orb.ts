// The orb: whose turn it is, and how loud they are, as a shape. With reduced motion it only changes
// its colour and, slowly, its size.
import type { SpeechState } from './wire.ts';

export interface OrbState {
  /** Null: nobody talks. */
  state: SpeechState | null;
  userLevel: number;
  voiceLevel: number;
}

const POINTS = 120;
/** Levels are root mean squares: speech is about 0.1. */
const GAIN = 4;
const RINGS = 3;
/**
 * In widths of the canvas: the widest ring at its loudest, (0.24 + 3 * 0.046 * 1.35), and the
 * highest of its waves, 1.9 * 0.085 of that, stay within the half of it.
 */
const RADIUS = 0.24;
const RING = 0.046;

export class Orb {
  readonly #canvas: HTMLCanvasElement;
  readonly #reduced = matchMedia('(prefers-reduced-motion: reduce)');
  #level = 0;

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas;
  }

  draw(nowMs: number, { state, userLevel, voiceLevel }: OrbState): void {
    const context = sized(this.#canvas);
    if (context === null) return;
    const isStill = this.#reduced.matches;
    const target = Math.min(1, GAIN * (state === 'speaking' ? voiceLevel : userLevel));
    // Up at once, down slowly: as ears do it.
    this.#level += (target - this.#level) * (target > this.#level ? 0.5 : isStill ? 0.03 : 0.1);
    const { width } = this.#canvas;
    const seconds = isStill ? 0 : nowMs / 1000;
    const colour = colourOf(this.#canvas, state);
    context.clearRect(0, 0, width, width);
    for (let ring = RINGS; ring >= 1; ring--) {
      const radius = width * (RADIUS + RING * ring * (0.35 + this.#level));
      context.globalAlpha = ring === 1 ? 1 : 0.28 / ring;
      this.#shape(context, { width, radius, seconds: seconds + ring, isStill, state });
      context.fillStyle = ring === 1 ? shaded(context, width, colour) : colour;
      context.fill();
    }
    context.globalAlpha = 1;
  }

  #shape(
    context: CanvasRenderingContext2D,
    at: {
      width: number;
      radius: number;
      seconds: number;
      isStill: boolean;
      state: SpeechState | null;
    },
  ): void {
    const { width, radius, seconds, isStill, state } = at;
    const swing = isStill || state === null ? 0 : 0.015 + 0.07 * this.#level;
    const turn = state === 'thinking' || state === 'connecting' ? 2.4 : 0.6;
    context.beginPath();
    for (let point = 0; point <= POINTS; point++) {
      const angle = (point / POINTS) * 2 * Math.PI;
      const wave =
        Math.sin(3 * angle + turn * seconds) +
        0.6 * Math.sin(5 * angle - 1.7 * turn * seconds) +
        0.3 * Math.sin(8 * angle + 2.3 * turn * seconds);
      const reach = radius * (1 + swing * wave);
      context.lineTo(width / 2 + reach * Math.cos(angle), width / 2 + reach * Math.sin(angle));
    }
    context.closePath();
  }
}

function colourOf(canvas: HTMLCanvasElement, state: SpeechState | null): string {
  const style = getComputedStyle(canvas);
  const names = { listening: '--you', speaking: '--voice', thinking: '--accent' } as const;
  const name = state === null ? '--accent' : state === 'connecting' ? '--soft' : names[state];
  return style.getPropertyValue(name).trim();
}

function shaded(context: CanvasRenderingContext2D, width: number, colour: string): CanvasGradient {
  const [x, y] = [width * 0.42, width * 0.38];
  const gradient = context.createRadialGradient(x, y, width * 0.02, x, y, width * 0.36);
  gradient.addColorStop(0, `color-mix(in oklab, ${colour}, white 45%)`);
  gradient.addColorStop(1, `color-mix(in oklab, ${colour}, white 8%)`);
  return gradient;
}

/** The drawing context, with the canvas as large as its place has device pixels. */
export function sized(canvas: HTMLCanvasElement): CanvasRenderingContext2D | null {
  const width = Math.round(canvas.clientWidth * devicePixelRatio);
  const height = Math.round(canvas.clientHeight * devicePixelRatio);
  if (width === 0 || height === 0) return null;
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  return canvas.getContext('2d');
}
