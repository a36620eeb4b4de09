-- Invoices and credit notes: what was bought and given back, as it was said then. Numbers have no
-- gap: a counter and its document are one transaction. Each cause has one document.

CREATE TABLE invoice_counters (
  prefix text NOT NULL,
  year integer NOT NULL,
  last integer NOT NULL DEFAULT 0 CHECK (last >= 0),
  PRIMARY KEY (prefix, year)
);

CREATE TABLE invoices (
  number text PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('invoice', 'credit_note')),
  -- A purchase, or a refund or dispute of its provider: `<provider> <id there>`.
  cause text NOT NULL UNIQUE,
  purchase_id text NOT NULL,
  account_id text NOT NULL,
  issued_at timestamptz NOT NULL,
  -- Seller, buyer, lines, tax: nothing else is read when it is shown.
  document jsonb NOT NULL
);
CREATE INDEX invoices_purchase ON invoices (purchase_id);
CREATE INDEX invoices_account ON invoices (account_id, number);

ALTER TABLE purchases ADD COLUMN invoice_number text;
ALTER TABLE payment_facts ADD COLUMN credit_note_number text;
-- What waits for its document.
CREATE INDEX purchases_to_invoice ON purchases (completed_at)
  WHERE invoice_number IS NULL AND completed_at IS NOT NULL AND price_cents > 0;
CREATE INDEX payment_facts_to_credit ON payment_facts (opened_at)
  WHERE credit_note_number IS NULL AND amount_cents > 0
    AND ((kind = 'refund' AND state = 'succeeded') OR (kind = 'dispute' AND state = 'lost'));
