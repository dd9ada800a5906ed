-- A link lets in on the authority of whoever issued it, and no longer than they have that. NULL: the command line.
ALTER TABLE account_links ADD COLUMN issued_by TEXT REFERENCES users (id);
