-- What is append-only takes no other row's place by its number either: `UPDATE OR REPLACE … SET rowid = …` names no
-- column that a trigger is for, and sets off none of a deletion (migration 26).

--[sqlite]
CREATE TRIGGER baa_acceptances_no_renumbering BEFORE UPDATE ON baa_acceptances WHEN NEW.rowid <> OLD.rowid
BEGIN SELECT RAISE(ABORT, 'baa_acceptances is append-only'); END;
CREATE TRIGGER baa_documents_no_renumbering BEFORE UPDATE ON baa_documents WHEN NEW.rowid <> OLD.rowid
BEGIN SELECT RAISE(ABORT, 'baa_documents is append-only'); END;
--[both]
