// One rule of the books, as a query that returns what breaks it.
export interface Rule {
  name: string;
  /** How many things there are to check. */
  count: string;
  /** Rows `(text)`: one for each violation. */
  violations: string;
}
