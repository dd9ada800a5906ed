-- An address is stored as it is compared. Under row-level security PostgreSQL uses an index for no function that might
-- tell what it was given, which LOWER might: each sign-in read all people. Text that is compared as it stands finds the
-- index of its uniqueness. `users_by_plain_email` stays for replicas that still ask as before, and so that no two
-- addresses differ in case alone.

--[sqlite]
UPDATE users SET email = LOWER(email) WHERE email <> LOWER(email);
--[postgres]
-- The letters of ASCII, whatever the language of the database.
UPDATE users SET email = LOWER(email COLLATE "C") WHERE email <> LOWER(email COLLATE "C");
--[both]
