-- What an administrator takes back: a promotion, or an amount of promotions. The entries that are
-- there were held to fewer kinds, so none of them is looked at again.
ALTER TABLE ledger DROP CONSTRAINT ledger_kind_check;
ALTER TABLE ledger ADD CONSTRAINT ledger_kind_check CHECK (
  kind IN ('hold', 'extend', 'reduce', 'settle', 'release', 'late', 'grant', 'expire', 'revoke',
    'debit')
) NOT VALID;
COMMENT ON COLUMN grants.expired IS
  'Its time came, or it was revoked: what was free of it was taken back, and what returns is, too.';
