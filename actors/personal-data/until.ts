// A moment as it is written to a person, who may be anywhere.

const format = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

/** Such as `11 December 2026 at 09:30 UTC`. */
export function untilText(moment: Date): string {
  return `${format.format(moment)} UTC`;
}
