-- Whom an account is for, in an administrator's words.
ALTER TABLE accounts ADD COLUMN label text
  CONSTRAINT account_label CHECK (char_length(label) BETWEEN 1 AND 100);
