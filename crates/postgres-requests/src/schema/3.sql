-- Copies of other stores. While one is being written there is no row in `head`: nobody can commit, and nobody is served.

CREATE TABLE copying (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    -- Whoever writes just now. A later copy takes its place, and the earlier one is refused from then on.
    run uuid NOT NULL,
    -- The store that is copied, as it is shown.
    source text NOT NULL,
    -- Names that store. Under one name, the same version of a record is the same record.
    lineage text,
    -- Its last commit when the copy began.
    position bigint NOT NULL,
    -- Everything up to here is there, and was read back.
    complete bigint NOT NULL DEFAULT 0,
    began timestamptz NOT NULL DEFAULT now()
);

-- Begins a copy in an empty store, or goes on with one that was not finished. Says which: `new`; `on`, where what is there
-- is of the same store; `anew`, where it was of another and is taken away; or `refused`, with the last commit of what is
-- there.
CREATE FUNCTION begin_copy_3(its_run uuid, its_source text, its_lineage text, its_position bigint,
    OUT said text, OUT held bigint, OUT complete bigint) LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
    earlier copying%ROWTYPE;
BEGIN
    PERFORM durable_1();
    LOCK TABLE copying IN EXCLUSIVE MODE;
    SELECT * INTO earlier FROM copying;
    IF FOUND THEN
        IF earlier.lineage = its_lineage AND earlier.position <= its_position THEN
            said := 'on';
            complete := earlier.complete;
            UPDATE copying SET run = its_run, source = its_source, position = its_position;
        ELSE
            said := 'anew';
            complete := 0;
            TRUNCATE record, commits, given_up, blob, blob_piece;
            UPDATE copying c SET run = its_run, source = its_source, lineage = its_lineage,
                position = its_position, complete = 0, began = now();
        END IF;
        RETURN;
    END IF;
    SELECT h.position INTO STRICT held FROM head h WHERE h.one FOR UPDATE;
    IF held > 0 OR EXISTS (SELECT FROM record) OR EXISTS (SELECT FROM blob) THEN
        said := 'refused';
        RETURN;
    END IF;
    said := 'new';
    complete := 0;
    DELETE FROM head;
    INSERT INTO copying (run, source, lineage, position) VALUES (its_run, its_source, its_lineage, its_position);
END $$;

-- Only the copy that began last may write. What it writes is durable when the copy is finished; if it is not, it is begun
-- again.
CREATE FUNCTION may_copy_3(its_run uuid) RETURNS void LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
BEGIN
    PERFORM FROM copying c WHERE c.run = its_run FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'another copy into this store began later' USING ERRCODE = 'lock_not_available';
    END IF;
END $$;

CREATE FUNCTION copy_records_3(its_run uuid, gone bytea[], keys bytea[], versions bigint[], contents bytea[])
RETURNS void LANGUAGE plpgsql
SET jit = off
SET search_path FROM CURRENT
AS $$
BEGIN
    PERFORM may_copy_3(its_run);
    PERFORM set_config('synchronous_commit', 'off', true);
    DELETE FROM record r USING unnest(gone) AS g (key) WHERE r.key = g.key;
    INSERT INTO record (key, version, value)
        SELECT w.key, w.version, w.content FROM unnest(keys, versions, contents) AS w (key, version, content)
        ON CONFLICT (key) DO UPDATE SET version = excluded.version, value = excluded.value;
END $$;

CREATE FUNCTION copy_feed_3(its_run uuid, positions bigint[], feeds bytea[]) RETURNS void LANGUAGE plpgsql
SET jit = off
SET search_path FROM CURRENT
AS $$
BEGIN
    PERFORM may_copy_3(its_run);
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO commits (position, entries)
        SELECT w.position, w.entries FROM unnest(positions, feeds) AS w (position, entries)
        ON CONFLICT (position) DO UPDATE SET entries = excluded.entries;
END $$;

-- Everything up to the position of the copy is there, and was read back. Goes on later.
CREATE FUNCTION rest_copy_3(its_run uuid) RETURNS void LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
BEGIN
    PERFORM durable_1();
    PERFORM may_copy_3(its_run);
    UPDATE copying c SET complete = c.position;
END $$;

-- Makes it a store.
CREATE FUNCTION finish_copy_3(its_run uuid, its_floor bigint) RETURNS void LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
    last_position bigint;
BEGIN
    PERFORM durable_1();
    PERFORM may_copy_3(its_run);
    SELECT c.position INTO STRICT last_position FROM copying c;
    DELETE FROM commits k WHERE k.position <= its_floor;
    INSERT INTO head (position, floor) VALUES (last_position, its_floor);
    UPDATE sweep SET position = last_position;
    DELETE FROM copying;
END $$;
