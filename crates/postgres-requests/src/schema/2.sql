-- Blobs, in pieces. A blob is there when its row in `blob` is; pieces before that belong to an upload that is under way,
-- or was given up.

CREATE TABLE blob (
    hash bytea PRIMARY KEY,
    bytes bigint NOT NULL,
    upload uuid NOT NULL UNIQUE,
    at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE blob_piece (
    upload uuid NOT NULL,
    number integer NOT NULL,
    piece bytea NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (upload, number)
);
-- content is mostly compressed already
ALTER TABLE blob_piece ALTER COLUMN piece SET STORAGE EXTERNAL;

-- Makes an upload a blob. Whoever stored the same bytes before keeps them, and these are taken away.
CREATE FUNCTION finish_blob_2(finished uuid, its_hash bytea, its_bytes bigint) RETURNS void LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
BEGIN
    PERFORM durable_1();
    INSERT INTO blob (hash, bytes, upload) VALUES (its_hash, its_bytes, finished) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        DELETE FROM blob_piece WHERE upload = finished;
    END IF;
END $$;

CREATE FUNCTION delete_blob_2(its_hash bytea) RETURNS boolean LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
    its_upload uuid;
BEGIN
    PERFORM durable_1();
    DELETE FROM blob WHERE hash = its_hash RETURNING upload INTO its_upload;
    DELETE FROM blob_piece WHERE upload = its_upload;
    RETURN its_upload IS NOT NULL;
END $$;

-- Takes away pieces of uploads that began a day ago and were not finished.
CREATE FUNCTION sweep_blobs_2() RETURNS void LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM blob_piece p WHERE p.upload IN (
        SELECT q.upload FROM blob_piece q
        WHERE q.number = 0 AND q.at < now() - interval '1 day'
            AND NOT EXISTS (SELECT FROM blob b WHERE b.upload = q.upload)
        LIMIT 100
    );
END $$;
