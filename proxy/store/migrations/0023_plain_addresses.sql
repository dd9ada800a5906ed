-- An address is stored as it is compared. Under row-level security PostgreSQL uses an index for nothing but functions that
-- cannot tell what they were given, which LOWER is not: each sign-in read all people. Text that is compared as it stands
-- finds the index of its uniqueness. `users_by_plain_email` stays for who asks as before, and lets two that differ in case
-- in at no time.

--[sqlite]
UPDATE users SET email = LOWER(email) WHERE email <> LOWER(email);
--[postgres]
-- The letters of ASCII, whatever the language of the database.
UPDATE users SET email = LOWER(email COLLATE "C") WHERE email <> LOWER(email COLLATE "C");
--[both]
