// Sizes in pixels of ratios and resolutions.

/** The short side of a resolution such as `720p`; null: it is none. */
export function shortSideOf(resolution: string): number | null {
  const lines = /^(\d{3,4})p$/.exec(resolution)?.[1];
  return lines === undefined ? null : Number(lines);
}

/** Null: the ratio is none. */
export function sizeOf(ratio: string, shortSide: number): { width: number; height: number } | null {
  const [, wide, high] = /^(\d{1,2}):(\d{1,2})$/.exec(ratio) ?? [];
  if (wide === undefined || high === undefined) return null;
  const unit = shortSide / Math.min(Number(wide), Number(high));
  return { width: even(Number(wide) * unit), height: even(Number(high) * unit) };
}

/** The encoder takes no odd sides. */
function even(pixels: number): number {
  return Math.round(pixels / 2) * 2;
}
