// The bounds of the health of provider routes that no variable changes.

export const healthLimits = {
  /** A route whose provider nobody has paid is tried last for this long: a bill takes minutes. */
  unpaidRestMs: 600_000,
} as const;
