-- The commit that wrote a record, where its version was chosen by whoever sent that commit. Such versions are at least
-- 2^52, and any other is the position: also where a server of the version before has written it since.
ALTER TABLE record ADD COLUMN position bigint;

-- As `commit_1`, and commits may be chained: one may expect what an earlier one writes that is not answered yet, in this
-- group or in one before. For that, `versions[i]` is what the records that commit i writes get as their version; without
-- one it is the position of the commit.
--
-- Keys that one commit of the group writes and a later one checks or writes are in `touched_key`, and `touched_*` says
-- who does what with them, ordered by commit, checks before writes. `touched_version` is what is expected (0: absent)
-- or, of a write, what it leaves (0: it deletes; NULL: the position). Checks of those keys are there and not in
-- `check_*`. `write_touched` names the key that is written by its number, 0 if it is none of those.
CREATE FUNCTION commit_4(
    tokens uuid[], versions bigint[], changes boolean[], feeds bytea[],
    check_of integer[], check_key bytea[], check_version bigint[],
    write_of integer[], write_key bytea[], write_value bytea[], write_touched integer[],
    touched_of integer[], touched integer[], touched_writes boolean[], touched_version bigint[], touched_key bytea[],
    OUT positions bigint[], OUT conflicts bytea[], OUT last_position bigint
) LANGUAGE plpgsql
-- as in `commit_1`; and the planner would plan every statement anew for each call, because it believes that it gains by
-- knowing how long the arrays are: that took a millisecond, and a small group takes a third of one
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
SET plan_cache_mode = force_generic_plan
SET search_path FROM CURRENT
AS $$
DECLARE
    base bigint;
    accepted boolean[];
    found_version bigint[];
    last_writer integer[];
    of integer;
    which integer;
BEGIN
    PERFORM durable_1();
    SELECT h.position INTO STRICT base FROM head h WHERE h.one FOR UPDATE;
    WITH failing AS MATERIALIZED (
        SELECT DISTINCT ON (c.nr) c.nr, c.key
        FROM unnest(check_of, check_key, check_version) WITH ORDINALITY AS c (nr, key, version, ord)
        WHERE c.version <> coalesce((SELECT r.version FROM record r WHERE r.key = c.key), 0)
        ORDER BY c.nr, c.ord
    ), judged AS (
        SELECT t.nr,
            (SELECT k.position FROM commits k WHERE k.token = t.token) AS known,
            EXISTS (SELECT FROM given_up g WHERE g.token = t.token) AS dropped,
            (SELECT f.key FROM failing f WHERE f.nr = t.nr) AS conflict
        FROM unnest(tokens) WITH ORDINALITY AS t (token, nr)
    )
    SELECT array_agg(j.known ORDER BY j.nr),
        array_agg(CASE WHEN j.known IS NULL AND NOT j.dropped THEN j.conflict END ORDER BY j.nr),
        array_agg(j.known IS NULL AND NOT j.dropped AND j.conflict IS NULL ORDER BY j.nr)
    INTO positions, conflicts, accepted
    FROM judged j;
    IF cardinality(touched_key) > 0 THEN
        SELECT array_agg(coalesce((SELECT r.version FROM record r WHERE r.key = t.key), 0) ORDER BY t.nr)
        INTO found_version
        FROM unnest(touched_key) WITH ORDINALITY AS t (key, nr);
        last_writer := array_fill(0, ARRAY[cardinality(touched_key)]);
        FOR i IN 1 .. cardinality(touched_of) LOOP
            of := touched_of[i];
            IF accepted[of] THEN
                which := touched[i];
                IF touched_writes[i] THEN
                    found_version[which] := touched_version[i];
                    last_writer[which] := of;
                ELSIF found_version[which] IS DISTINCT FROM touched_version[i] THEN
                    accepted[of] := false;
                    conflicts[of] := touched_key[which];
                END IF;
            END IF;
        END LOOP;
    END IF;
    last_position := base;
    FOR i IN 1 .. cardinality(tokens) LOOP
        IF accepted[i] THEN
            IF changes[i] THEN
                last_position := last_position + 1;
            END IF;
            positions[i] := last_position;
        END IF;
    END LOOP;
    IF last_position = base THEN
        RETURN;
    END IF;
    DELETE FROM record r
        USING unnest(write_of, write_key, write_value, write_touched) AS w (nr, key, value, touched)
        WHERE r.key = w.key AND w.value IS NULL AND accepted[w.nr]
            AND (w.touched = 0 OR last_writer[w.touched] = w.nr);
    INSERT INTO record (key, version, value, position)
        SELECT w.key, coalesce(versions[w.nr], positions[w.nr]), w.value, positions[w.nr]
        FROM unnest(write_of, write_key, write_value, write_touched) AS w (nr, key, value, touched)
        WHERE w.value IS NOT NULL AND accepted[w.nr]
            AND (w.touched = 0 OR last_writer[w.touched] = w.nr)
        ON CONFLICT (key) DO UPDATE
            SET version = excluded.version, value = excluded.value, position = excluded.position;
    INSERT INTO commits (position, token, entries)
        SELECT positions[t.nr], t.token, t.entries
        FROM unnest(tokens, feeds) WITH ORDINALITY AS t (token, entries, nr)
        WHERE accepted[t.nr] AND changes[t.nr] AND (t.token IS NOT NULL OR t.entries IS NOT NULL);
    UPDATE head SET position = last_position;
END $$;
