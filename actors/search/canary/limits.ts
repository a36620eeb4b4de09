// The bounds of canaries.
export const canaryLimits = {
  /** How often it is looked which are due: they come every so many minutes. */
  lookMs: 60_000,
  /** To a provider's server. */
  connectionsMax: 2,
} as const;
