// Waits that a test may shorten: those of video jobs and of analyses (`TOLLGATE_VIDEO_HASTE`).

/** The limits with the named ones, all in milliseconds, divided by `haste` and rounded up. */
export function hastened<L extends object, N extends keyof L>(
  limits: L & Readonly<Record<N, number>>,
  names: readonly N[],
  haste: number,
): L & Readonly<Record<N, number>> {
  const shortened = names.map((name) => [name, Math.ceil(limits[name] / haste)]);
  return { ...limits, ...Object.fromEntries(shortened) };
}
