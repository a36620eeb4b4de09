-- A hold gives back what its owner cannot come to owe, before what it owes is known. The entries
-- that are there were held to fewer kinds, so none of them is looked at again.
ALTER TABLE ledger DROP CONSTRAINT ledger_kind_check;
ALTER TABLE ledger ADD CONSTRAINT ledger_kind_check CHECK (
  kind IN ('hold', 'extend', 'reduce', 'settle', 'release', 'late', 'grant', 'expire')
) NOT VALID;
