// The bounds of issuing invoices, with the arithmetic behind them.
export const invoiceLimits = {
  /** A document is there within minutes: a round comes every half minute. */
  roundMs: 30_000,
  /** Documents of a round. Each is a transaction of a few ms: 2,000 take some 10 s. */
  pageLength: 100,
  pagesMax: 20,
  /** Drawing one takes a third of a second, and the first one of a thread loads fonts. */
  pdfTimeoutMs: 10_000,
} as const;
