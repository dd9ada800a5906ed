-- What is append-only is not replaced either. `INSERT OR REPLACE` sets off no trigger of a deletion, unless the
-- connection asks for that, which the store's does and a shell's does not. `RAISE(FAIL)`: with `ABORT`, SQLite would
-- keep a copy of every page that an insert touches (decision 36). A row is looked for by each key that it could take
-- the place of another one by, its number among them, which is -1 where none is given.

--[sqlite]
CREATE TRIGGER audit_no_replace BEFORE INSERT ON audit
WHEN EXISTS (SELECT 1 FROM audit WHERE id = NEW.id)
    OR EXISTS (SELECT 1 FROM audit WHERE request_id = NEW.request_id AND phase = NEW.phase)
    OR (NEW.rowid <> -1 AND EXISTS (SELECT 1 FROM audit WHERE rowid = NEW.rowid))
BEGIN SELECT RAISE(FAIL, 'audit is append-only: the row is there'); END;
CREATE TRIGGER audit_unsealed_no_replace BEFORE INSERT ON audit_unsealed
WHEN NEW.seq <> -1 AND EXISTS (SELECT 1 FROM audit_unsealed WHERE seq = NEW.seq)
BEGIN SELECT RAISE(FAIL, 'audit_unsealed is append-only: the row is there'); END;
CREATE TRIGGER audit_leaves_no_replace BEFORE INSERT ON audit_leaves
WHEN EXISTS (SELECT 1 FROM audit_leaves WHERE leaf_index = NEW.leaf_index)
    OR EXISTS (SELECT 1 FROM audit_leaves WHERE audit_id = NEW.audit_id)
BEGIN SELECT RAISE(FAIL, 'audit_leaves is append-only: the row is there'); END;
CREATE TRIGGER audit_nodes_no_replace BEFORE INSERT ON audit_nodes
WHEN EXISTS (SELECT 1 FROM audit_nodes WHERE height = NEW.height AND position = NEW.position)
    OR (NEW.rowid <> -1 AND EXISTS (SELECT 1 FROM audit_nodes WHERE rowid = NEW.rowid))
BEGIN SELECT RAISE(FAIL, 'audit_nodes is append-only: the row is there'); END;
CREATE TRIGGER audit_tree_no_replace BEFORE INSERT ON audit_tree
WHEN EXISTS (SELECT 1 FROM audit_tree)
BEGIN SELECT RAISE(FAIL, 'audit_tree is append-only: the row is there'); END;
CREATE TRIGGER ledger_no_replace BEFORE INSERT ON ledger
WHEN EXISTS (SELECT 1 FROM ledger WHERE request_id = NEW.request_id AND kind = NEW.kind)
BEGIN SELECT RAISE(FAIL, 'ledger is append-only: the row is there'); END;
CREATE TRIGGER baa_acceptances_no_replace BEFORE INSERT ON baa_acceptances
WHEN EXISTS (SELECT 1 FROM baa_acceptances WHERE id = NEW.id OR rowid = NEW.rowid)
BEGIN SELECT RAISE(FAIL, 'baa_acceptances is append-only: the row is there'); END;
CREATE TRIGGER baa_documents_no_replace BEFORE INSERT ON baa_documents
WHEN EXISTS (SELECT 1 FROM baa_documents WHERE acceptance_id = NEW.acceptance_id OR rowid = NEW.rowid)
BEGIN SELECT RAISE(FAIL, 'baa_documents is append-only: the row is there'); END;
--[both]
