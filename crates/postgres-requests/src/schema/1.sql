-- Records, the feed, and what became of commits. Names of functions carry the version of the schema that brought them:
-- a server of the version before goes on while the schema is brought forward.

CREATE TABLE steadfast (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    version integer NOT NULL
);
COMMENT ON TABLE steadfast IS 'The tables of this schema belong to Steadfast. Do not write to them.';

CREATE TABLE record (
    key bytea PRIMARY KEY,
    version bigint NOT NULL,
    value bytea NOT NULL
) WITH (fillfactor = 85);

-- One row. Whoever commits locks it before looking at anything and until the commit is durable and visible, so positions
-- become visible in their order, and no reader of the feed can pass one that is still to come.
CREATE TABLE head (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    position bigint NOT NULL,
    floor bigint NOT NULL
) WITH (fillfactor = 10);
INSERT INTO head (position, floor) VALUES (0, 0);

-- What a commit fed, and the token that it is asked for by. A commit that has neither has no row.
CREATE TABLE commits (
    position bigint PRIMARY KEY,
    token uuid,
    entries bytea,
    at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX commits_token ON commits (token) WHERE token IS NOT NULL;

-- Tokens of commits that were said not to hold, and never will.
CREATE TABLE given_up (
    token uuid PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now()
);

-- Up to where rows of `commits` that only remember a token were taken away.
CREATE TABLE sweep (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    position bigint NOT NULL
);
INSERT INTO sweep (position) VALUES (0);

-- Nothing is answered before it is on the disk, whatever the session's setting says.
CREATE FUNCTION durable_1() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'the isolation level is %', current_setting('transaction_isolation')
            USING ERRCODE = 'invalid_transaction_state',
                HINT = 'set default_transaction_isolation of the role to read committed';
    END IF;
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
END $$;

-- A group of commits, decided one after the other and made durable at once. Commit i has `tokens[i]`; it `changes[i]`
-- something, or only checks; `feeds[i]` is what it feeds. Checks and writes name their commit by number. A version of 0
-- means that the record must be absent, a value of NULL that it is deleted.
--
-- `touched_*` lists the keys that one commit of the group writes and a later one checks, ordered by commit, checks before
-- writes: the later one fails if the earlier one holds.
--
-- Answers with the position of each commit that holds, or held already by its token; otherwise with the key that was not
-- as expected, or with neither, if its token was given up.
CREATE FUNCTION commit_1(
    tokens uuid[], changes boolean[], feeds bytea[],
    check_of integer[], check_key bytea[], check_version bigint[],
    write_of integer[], write_key bytea[], write_value bytea[],
    touched_of integer[], touched integer[], touched_writes boolean[], touched_key bytea[],
    OUT positions bigint[], OUT conflicts bytea[], OUT last_position bigint
) LANGUAGE plpgsql
-- keys are looked up one by one, however few rows the planner believes in; what it compiles for its own estimates takes longer
-- than the work
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
SET search_path FROM CURRENT
AS $$
DECLARE
    base bigint;
    accepted boolean[];
    taken boolean[];
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
    taken := array_fill(false, ARRAY[cardinality(touched_key)]);
    FOR i IN 1 .. cardinality(touched_of) LOOP
        IF accepted[touched_of[i]] THEN
            IF touched_writes[i] THEN
                taken[touched[i]] := true;
            ELSIF taken[touched[i]] THEN
                accepted[touched_of[i]] := false;
                conflicts[touched_of[i]] := touched_key[touched[i]];
            END IF;
        END IF;
    END LOOP;
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
        USING unnest(write_of, write_key, write_value) AS w (nr, key, value)
        WHERE r.key = w.key AND w.value IS NULL AND accepted[w.nr];
    INSERT INTO record (key, version, value)
        SELECT w.key, positions[w.nr], w.value
        FROM unnest(write_of, write_key, write_value) AS w (nr, key, value)
        WHERE w.value IS NOT NULL AND accepted[w.nr]
        ON CONFLICT (key) DO UPDATE SET version = excluded.version, value = excluded.value;
    INSERT INTO commits (position, token, entries)
        SELECT positions[t.nr], t.token, t.entries
        FROM unnest(tokens, feeds) WITH ORDINALITY AS t (token, entries, nr)
        WHERE accepted[t.nr] AND changes[t.nr] AND (t.token IS NOT NULL OR t.entries IS NOT NULL);
    UPDATE head SET position = last_position;
END $$;

-- The position of the commit with this token. NULL: it does not hold, and never will.
CREATE FUNCTION outcome_1(asked uuid) RETURNS bigint LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
    found_at bigint;
BEGIN
    PERFORM durable_1();
    PERFORM FROM head FOR UPDATE;
    SELECT k.position INTO found_at FROM commits k WHERE k.token = asked;
    IF found_at IS NULL THEN
        INSERT INTO given_up (token) VALUES (asked) ON CONFLICT DO NOTHING;
    END IF;
    RETURN found_at;
END $$;

-- Takes away a part of what nobody can ask for any more, and says whether there may be more. Tokens are remembered for
-- two hours, those that were given up for a day.
CREATE FUNCTION sweep_1() RETURNS boolean LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
    swept bigint;
    upto bigint;
    trimmed bigint;
BEGIN
    SELECT s.position INTO swept FROM sweep s FOR UPDATE SKIP LOCKED;
    IF swept IS NULL THEN
        RETURN false;
    END IF;
    DELETE FROM given_up WHERE at < now() - interval '1 day';
    SELECT max(p.position) INTO upto FROM (
        SELECT k.position, k.at FROM commits k WHERE k.position > swept ORDER BY k.position LIMIT 5000
    ) p WHERE p.at < now() - interval '2 hours';
    IF upto IS NOT NULL THEN
        DELETE FROM commits k WHERE k.position > swept AND k.position <= upto AND k.entries IS NULL;
        UPDATE sweep SET position = upto;
    END IF;
    DELETE FROM commits WHERE position IN (
        SELECT k.position FROM commits k
        WHERE k.position <= (SELECT h.floor FROM head h) AND k.at < now() - interval '2 hours'
        ORDER BY k.position LIMIT 5000
    );
    GET DIAGNOSTICS trimmed = ROW_COUNT;
    RETURN upto IS NOT NULL OR trimmed > 0;
END $$;
