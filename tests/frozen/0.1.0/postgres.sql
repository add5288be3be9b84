--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Type: SCHEMA; Schema: -; Owner: keeper
--

CREATE SCHEMA writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4;


ALTER SCHEMA writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4 OWNER TO keeper;

--
-- Name: append(text, text, bigint, bigint, uuid, text, bytea, text, integer[], bigint[], integer[], bytea[], bytea[], text, boolean); Type: FUNCTION; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.append(p_name text, p_origin text, p_size bigint, p_epoch bigint, p_holder uuid, p_facts text, p_chains bytea, p_keys text, p_levels integer[], p_tiles bigint[], p_starts integer[], p_hashes bytea[], p_nodes bytea[], p_note text, p_keep boolean) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4', 'pg_temp'
    AS $$#variable_conflict use_column
DECLARE
      id integer;
      head writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.heads%ROWTYPE;
      added bigint;
    BEGIN
      SELECT stream INTO id FROM writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.streams WHERE name = p_name;
      IF id IS NULL THEN
        IF p_size <> 0 THEN
          RAISE EXCEPTION 'there is no such stream' USING ERRCODE = 'WR001';
        END IF;
        INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.streams SELECT coalesce(max(stream), 0) + 1, p_name, p_origin FROM writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.streams
          RETURNING stream INTO id;
      ELSE
        SELECT * INTO head FROM writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.heads WHERE stream = id FOR UPDATE;
        IF head.size IS DISTINCT FROM p_size OR head.epoch IS DISTINCT FROM p_epoch THEN
          RAISE EXCEPTION 'the head has moved' USING ERRCODE = 'WR001';
        END IF;
      END IF;
      INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts SELECT id, p_size + place - 1, fact,
          substring(p_chains FROM ((place - 1) * 32 + 1)::integer FOR 32)
        FROM string_to_table(p_facts, E'\n') WITH ORDINALITY AS given (fact, place);
      GET DIAGNOSTICS added = ROW_COUNT;
      INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys SELECT id, key, p_size + place - 1
        FROM string_to_table(p_keys, E'\n') WITH ORDINALITY AS given (key, place) WHERE key <> '';
      INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles SELECT id, given.* FROM unnest(p_levels, p_tiles, p_starts, p_hashes, p_nodes)
        AS given;
      IF head.size IS NULL THEN
        INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.heads VALUES (id, added, p_epoch, p_holder, p_note);
      ELSE
        UPDATE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.heads SET size = p_size + added, holder = p_holder, note = p_note,
          epoch = CASE WHEN holder = p_holder THEN epoch ELSE epoch + 1 END WHERE stream = id;
      END IF;
      IF p_keep THEN
        INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.checkpoints VALUES (id, p_size + added, p_note);
      END IF;
    END$$;


ALTER FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.append(p_name text, p_origin text, p_size bigint, p_epoch bigint, p_holder uuid, p_facts text, p_chains bytea, p_keys text, p_levels integer[], p_tiles bigint[], p_starts integer[], p_hashes bytea[], p_nodes bytea[], p_note text, p_keep boolean) OWNER TO keeper;

--
-- Name: checkpoint_behind(); Type: FUNCTION; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.checkpoint_behind() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4', 'pg_temp'
    AS $$#variable_conflict use_column
BEGIN
      IF NEW.size <= (SELECT max(size) FROM writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.checkpoints WHERE stream = NEW.stream) THEN
        RAISE EXCEPTION 'a checkpoint is kept behind the last one of its stream'
          USING ERRCODE = 'WR002';
      END IF;
      RETURN NEW;
    END$$;


ALTER FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.checkpoint_behind() OWNER TO keeper;

--
-- Name: facts_behind(); Type: FUNCTION; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts_behind() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4', 'pg_temp'
    AS $$#variable_conflict use_column
DECLARE
      run record;
    BEGIN
      FOR run IN SELECT stream, min(seq) AS low, max(seq) AS high, count(*) AS facts
        FROM added GROUP BY stream
      LOOP
        IF run.high - run.low + 1 <> run.facts OR run.low < 0
          OR (run.low > 0 AND NOT EXISTS
            (SELECT FROM writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts WHERE stream = run.stream AND seq = run.low - 1))
          OR run.high <> (SELECT max(seq) FROM writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts WHERE stream = run.stream)
        THEN
          RAISE EXCEPTION 'a fact is appended behind the last one of its stream'
            USING ERRCODE = 'WR002';
        END IF;
      END LOOP;
      RETURN NULL;
    END$$;


ALTER FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts_behind() OWNER TO keeper;

--
-- Name: first_at(integer, bigint, text); Type: FUNCTION; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.first_at(p_stream integer, p_size bigint, p_moment text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4', 'pg_temp'
    AS $$#variable_conflict use_column
DECLARE
      low bigint := 0;
      high bigint := p_size;
      middle bigint;
      moment text;
    BEGIN
      WHILE low < high LOOP
        middle := (low + high) / 2;
        SELECT substr(fact, 66, 24) INTO moment FROM writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts WHERE stream = p_stream AND seq = middle;
        IF moment COLLATE "C" < p_moment THEN low := middle + 1; ELSE high := middle; END IF;
      END LOOP;
      RETURN low;
    END$$;


ALTER FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.first_at(p_stream integer, p_size bigint, p_moment text) OWNER TO keeper;

--
-- Name: follow(integer, bigint, bigint, smallint[], text[], bigint[]); Type: FUNCTION; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.follow(p_stream integer, p_from bigint, p_to bigint, p_fields smallint[], p_values text[], p_seqs bigint[]) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4', 'pg_temp'
    AS $$#variable_conflict use_column
BEGIN
      INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.marks VALUES (p_stream, 0) ON CONFLICT DO NOTHING;
      UPDATE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.marks SET size = p_to WHERE stream = p_stream AND size = p_from;
      IF NOT FOUND THEN
        RETURN false;
      END IF;
      INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms SELECT p_stream, given.* FROM unnest(p_fields, p_values, p_seqs) AS given
        ON CONFLICT DO NOTHING;
      RETURN true;
    END$$;


ALTER FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.follow(p_stream integer, p_from bigint, p_to bigint, p_fields smallint[], p_values text[], p_seqs bigint[]) OWNER TO keeper;

--
-- Name: head_forward(); Type: FUNCTION; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.head_forward() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4', 'pg_temp'
    AS $$#variable_conflict use_column
BEGIN
      IF NEW.stream <> OLD.stream OR NEW.size <= OLD.size OR NEW.epoch < OLD.epoch THEN
        RAISE EXCEPTION 'a head only moves forward' USING ERRCODE = 'WR002';
      END IF;
      RETURN NEW;
    END$$;


ALTER FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.head_forward() OWNER TO keeper;

--
-- Name: open_tiles(integer, bigint); Type: FUNCTION; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.open_tiles(p_stream integer, p_size bigint, OUT levels integer[], OUT tiles double precision[], OUT hashes bytea[], OUT nodes bytea[]) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4', 'pg_temp'
    AS $$#variable_conflict use_column
BEGIN
      SELECT array_agg(o.level), array_agg(o.tile::float8), array_agg(w.hashes), array_agg(w.nodes)
        INTO levels, tiles, hashes, nodes
        FROM (SELECT l AS level, p_size >> (8 * l) >> 8 AS tile FROM generate_series(0, 6) AS l
            WHERE (p_size >> (8 * l)) % 256 > 0) AS o,
          LATERAL (SELECT string_agg(t.hashes, '' ORDER BY t.start) AS hashes,
              string_agg(t.nodes, '' ORDER BY t.start) AS nodes FROM writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles t
            WHERE t.stream = p_stream AND t.level = o.level AND t.tile = o.tile) AS w
        WHERE w.hashes IS NOT NULL;
    END$$;


ALTER FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.open_tiles(p_stream integer, p_size bigint, OUT levels integer[], OUT tiles double precision[], OUT hashes bytea[], OUT nodes bytea[]) OWNER TO keeper;

--
-- Name: refuse(); Type: FUNCTION; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.refuse() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4', 'pg_temp'
    AS $$#variable_conflict use_column
BEGIN
      RAISE EXCEPTION '% are never changed', TG_TABLE_NAME USING ERRCODE = 'WR002';
    END$$;


ALTER FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.refuse() OWNER TO keeper;

--
-- Name: take_turn(text[], uuid, text[], bigint[]); Type: FUNCTION; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.take_turn(p_names text[], p_holder uuid, p_known text[], p_sizes bigint[]) RETURNS TABLE(name text, stream integer, origin text, size double precision, epoch double precision, holder uuid, note text, last_seq double precision, last_fact text, last_chain bytea, levels integer[], tiles double precision[], hashes bytea[], nodes bytea[])
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4', 'pg_temp'
    AS $$#variable_conflict use_column
DECLARE
      lock bigint;
    BEGIN
      FOR lock IN SELECT DISTINCT hashtextextended('writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4/' || one, 0) FROM unnest(p_names) one ORDER BY 1
      LOOP
        PERFORM pg_advisory_xact_lock(lock);
      END LOOP;
      RETURN QUERY SELECT s.name, s.stream, s.origin, h.size::float8, h.epoch::float8, h.holder, h.note,
          last.seq::float8, last.fact, last.chain, e.levels, e.tiles, e.hashes, e.nodes
        FROM writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.streams s LEFT JOIN writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.heads h ON h.stream = s.stream
          LEFT JOIN LATERAL (SELECT true FROM unnest(p_known, p_sizes) AS k (name, size)
            WHERE k.name = s.name AND k.size = h.size AND h.holder = p_holder) AS known (yes) ON true
          LEFT JOIN LATERAL (SELECT f.seq, f.fact, f.chain FROM writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts f WHERE f.stream = s.stream
            ORDER BY f.seq DESC LIMIT 1) AS last ON known.yes IS NULL
          LEFT JOIN LATERAL writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.open_tiles(s.stream, last.seq + 1) AS e ON last.seq IS NOT NULL
        WHERE s.name = ANY (p_names);
    END$$;


ALTER FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.take_turn(p_names text[], p_holder uuid, p_known text[], p_sizes bigint[]) OWNER TO keeper;

--
-- Name: tile_longer(); Type: FUNCTION; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tile_longer() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4', 'pg_temp'
    AS $$#variable_conflict use_column
BEGIN
      IF NEW.start <> coalesce((SELECT max(start + length(hashes) / 32) FROM writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles
          WHERE stream = NEW.stream AND level = NEW.level AND tile = NEW.tile), 0)
        OR NEW.start + length(NEW.hashes) / 32 > 256
      THEN
        RAISE EXCEPTION 'a tile only becomes longer' USING ERRCODE = 'WR002';
      END IF;
      RETURN NEW;
    END$$;


ALTER FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tile_longer() OWNER TO keeper;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: checkpoints; Type: TABLE; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.checkpoints (
    stream integer NOT NULL,
    size bigint NOT NULL,
    note text NOT NULL
);


ALTER TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.checkpoints OWNER TO keeper;

--
-- Name: facts; Type: TABLE; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts (
    stream integer NOT NULL,
    seq bigint NOT NULL,
    fact text NOT NULL,
    chain bytea NOT NULL
);


ALTER TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts OWNER TO keeper;

--
-- Name: heads; Type: TABLE; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.heads (
    stream integer NOT NULL,
    size bigint NOT NULL,
    epoch bigint NOT NULL,
    holder uuid NOT NULL,
    note text NOT NULL
);


ALTER TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.heads OWNER TO keeper;

--
-- Name: keys; Type: TABLE; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys (
    stream integer NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL
);


ALTER TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys OWNER TO keeper;

--
-- Name: ledger; Type: TABLE; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.ledger (
    one integer NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    CONSTRAINT ledger_one_check CHECK ((one = 1))
);


ALTER TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.ledger OWNER TO keeper;

--
-- Name: marks; Type: TABLE; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.marks (
    stream integer NOT NULL,
    size bigint NOT NULL
);


ALTER TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.marks OWNER TO keeper;

--
-- Name: streams; Type: TABLE; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.streams (
    stream integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    origin text NOT NULL
);


ALTER TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.streams OWNER TO keeper;

--
-- Name: terms; Type: TABLE; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms (
    stream integer NOT NULL,
    field smallint NOT NULL,
    value text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL
);


ALTER TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms OWNER TO keeper;

--
-- Name: tiles; Type: TABLE; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles (
    stream integer NOT NULL,
    level integer NOT NULL,
    tile bigint NOT NULL,
    start integer NOT NULL,
    hashes bytea NOT NULL,
    nodes bytea NOT NULL
);
ALTER TABLE ONLY writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles ALTER COLUMN hashes SET STORAGE EXTERNAL;
ALTER TABLE ONLY writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles ALTER COLUMN nodes SET STORAGE EXTERNAL;


ALTER TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles OWNER TO keeper;

--
-- Data for Name: checkpoints; Type: TABLE DATA; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.checkpoints VALUES (1, 11, 'writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4/host
11
3anZE2OY4G0G4/uljyWb8Zs14qwFmwVAM188g171C4A=

— writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4/host FkrG2c9kv8nZUfge6OZpf0V17cZHk1iWSOCENsyG2gtRRmGAM+IIdhWxOZHk9Ih++ikPn30env2UWxs/4py6H/YV4gg=
— writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4/host eWmcbAaCpV5NCaV/jEen18bKnl/YSkhTe2Qpa+HOknaTF3KTIxhlLK2qLApkdVBvZ4398HOjC2sWLPYyHXXoBCoRPwE=
');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.checkpoints VALUES (2, 15, 'writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4/main
15
WrXligvWNQU40ZVPaXFHz1dAXi0dYmVrqdnVkisLPwc=

— writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4/main SId1dA2M5bkOiuOdm1lDDvjndr+sGsw/+rD9/X7O/X15LY0g6d52+cXybviXRKabzzwVprdFdMEoLtx16qTzlnuVlQk=
— writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4/main QOQq3x3X6okqRQvkpFpzizoIE7Y7bwqsBaLBquvpL6ox9RYrxM2cRdS3p8JFr2dYDJqmeozdrQoFtJ3EXGznx/qeiAg=
');


--
-- Data for Name: facts; Type: TABLE DATA; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (1, 0, '{"fact_id":"01a1e3f2-a476-7c00-883f-9f1979525bdf","occurred_at":"2026-11-16T10:41:32.278Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"last_size":0,"new_key":"writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4/host+164ac6d9+AepMKZrlgHUuDzLbc88Z15+/RRS2TVS/oP5E8UDG9jRP","old_key":null,"origin":"writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4/host","stream":"host"},"type":"key_rotated_v1"},"seq":0,"source":"cli","stream":"host"}', '\x4d31db554de2ac3563d4fe44d391282f1abadb567bf496e67a71c136ac90b966');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (1, 1, '{"fact_id":"01a1e3f2-a4ca-7a4d-9a2a-dfca3f2d2f8f","occurred_at":"2026-11-16T10:41:32.362Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"change":"added","credential":"none","principal":{"id":"ann","kind":"human","namespace":"farm"}},"type":"principal_v1"},"seq":1,"source":"cli","stream":"host"}', '\x4f89656fde0c3c60df2c98f0e74796979d9f1102ff01809b597b6db51cfbafd5');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (1, 2, '{"fact_id":"01a1e3f2-a7d5-7b4b-93eb-dfe1ca688262","occurred_at":"2026-11-16T10:41:33.141Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"change":"credential_set","credential":"passphrase","credential_key":"v+zGFk/ddXWjrka4RjsApzs8+8ZAv6xjNSmXX6v+A2c=","principal":{"id":"ann","kind":"human","namespace":"farm"}},"type":"principal_v1"},"seq":2,"source":"cli","stream":"host"}', '\xbf0431f637301fd7b7399b7ab8ac0b80e4555029d70e5911b1ea357d9d7a9afe');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (1, 3, '{"fact_id":"01a1e3f2-a848-73fd-bb95-1d6b6ff916b0","occurred_at":"2026-11-16T10:41:33.256Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"accepted_at":"2026-11-16T10:41:33.155Z","body":"sha256:f13cded90efc5dd4ea841859f42f053dcbe9d6390bc630dfc30153babac30e5f","laws":"sha256:f13cded90efc5dd4ea841859f42f053dcbe9d6390bc630dfc30153babac30e5f","lists":"sha256:dc19c7fe3914c8f827fc70ec968fcfc2b6a0c5bc5bfc96ebaa27ccd3ba92bf0c"},"type":"laws_v1"},"seq":3,"source":"gate","stream":"host"}', '\xb7cdf00aac025bac8eff537323918a5f93cf2d826d2709e5dc3c731884c13bf1');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (1, 4, '{"fact_id":"01a1e3f2-ad00-773e-8bfd-758e9ce5c547","occurred_at":"2026-11-16T10:41:34.464Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"accepted_at":"2026-11-16T10:41:34.369Z","body":"sha256:f3f76afbf7ac4b7e3ae9b8b5fe76c61415f654b08a93f46f9cc442fca313fdab","laws":"sha256:f3f76afbf7ac4b7e3ae9b8b5fe76c61415f654b08a93f46f9cc442fca313fdab","lists":"sha256:dc19c7fe3914c8f827fc70ec968fcfc2b6a0c5bc5bfc96ebaa27ccd3ba92bf0c"},"type":"laws_v1"},"seq":4,"source":"gate","stream":"host"}', '\xb37cc0f01af194bd12cc8d3d183858b91e73bb519b8b9732bd9adbda5c5fff86');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (1, 5, '{"fact_id":"01a1e3f2-b151-7b6e-860f-3e96e77abee1","occurred_at":"2026-11-16T10:41:35.569Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"change":"added","principal":{"id":"pump-3","kind":"device","namespace":"farm"},"streams":["main"]},"type":"principal_v1"},"seq":5,"source":"cli","stream":"host"}', '\x80a99a082e53d2fd9c938535da9090d537640850c153fa60aad6cd761340993a');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (1, 6, '{"fact_id":"01a1e3f2-b58f-7bd9-a5b3-e9e3b7cf180d","occurred_at":"2026-11-16T10:41:36.655Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"change":"added","principal":{"id":"bot","kind":"ai","namespace":"farm"},"streams":["main"]},"type":"principal_v1"},"seq":6,"source":"cli","stream":"host"}', '\xd15f228042e2bd57e54f34a38f565c819269c1f5e90f2402364d8087bfa885f9');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (1, 7, '{"fact_id":"01a1e3f2-b8b4-7a21-985e-b48120a08e00","occurred_at":"2026-11-16T10:41:37.460Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"change":"token_created","expires_at":"2036-11-13T10:41:36.836Z","principal":{"id":"pump-3","kind":"device","namespace":"farm"},"token_digest":"sha256:d90c5a19256f6a6d42a7aebfa44539f9ce17c76402ede6d50fb0e18be4cab3d3","token_id":"tok-38c1de51bd4d"},"type":"principal_v1"},"seq":7,"source":"cli","stream":"host"}', '\x38dcf0b58bfe9fb10e3ce58c38d6851669e035fb090829c7ac5a54fe654d9a1b');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (1, 8, '{"fact_id":"01a1e3f2-bcac-7d05-a50f-786f49f2ec1e","occurred_at":"2026-11-16T10:41:38.476Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"change":"token_created","expires_at":"2036-11-13T10:41:37.573Z","principal":{"id":"bot","kind":"ai","namespace":"farm"},"token_digest":"sha256:403d1f9516ff06406abc01e398e10dad1af53ba37e62e0dd250df881a897c50b","token_id":"tok-3a01789d9682"},"type":"principal_v1"},"seq":8,"source":"cli","stream":"host"}', '\xf8d8c4eeb9df50d55eab5b5adb9e9b8820b61208f7564e55de4fda16fd0f9776');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (1, 9, '{"fact_id":"01a1e3f2-c0ee-7fce-a20a-68e416cba5f4","occurred_at":"2026-11-16T10:41:39.566Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"last_size":0,"new_key":"writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4/main+48877574+AepMKZrlgHUuDzLbc88Z15+/RRS2TVS/oP5E8UDG9jRP","old_key":null,"origin":"writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4/main","stream":"main"},"type":"key_rotated_v1"},"seq":9,"source":"cli","stream":"host"}', '\xadfe6b4c60e66d234ab3c89dce1e83c6e8d1f6d8ecf1a8c0ba0c07851833a901');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 0, '{"fact_id":"01a1e3f2-c0ee-76a3-93c6-938c532bb704","occurred_at":"2026-11-16T10:41:39.566Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"act_task_id":"act-01a1e3f2-be4a-70cc-b444-bd1d5e292308","action_type":"IRRIGATE","constraints":{"water_mm":15},"created_at_ts":1794825698890,"issuer":{"id":"ann","kind":"human","namespace":"farm"},"parameter_schema":{"keys":[{"max":40,"min":0,"name":"water_mm","type":"number"}]},"parameters":{"water_mm":12},"target":{"kind":"field","ref":"field:north/7"},"time_window":{"end_ts":1763208000000,"start_ts":1763193600000},"type":"ao_act_task_v0"},"type":"ao_act_task_v0"},"seq":0,"source":"cli","stream":"main"}', '\xc2ed97541e71960ca32acdb8c37cffd85c74b96609051a5c556662a2fb989cd8');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 1, '{"fact_id":"01a1e3f2-c214-70ea-af70-c761f2b0ce6d","occurred_at":"2026-11-16T10:41:39.860Z","principal":{"id":"pump-3","kind":"device","namespace":"farm"},"record":{"idempotency_key":"receipt:sha256:bbf007426fc16e20c1c61273bbf9a5f09e844c056ddef1853096b3ed5b875af5","payload":{"act_task_id":"act-01a1e3f2-be4a-70cc-b444-bd1d5e292308","constraint_check":{"violated":false,"violations":[]},"created_at_ts":1794825699821,"execution_coverage":{"kind":"field","ref":"field:north/7"},"execution_time":{"end_ts":1763197200000,"start_ts":1763193600000},"executor_id":{"id":"pump-3","kind":"device","namespace":"farm"},"logs_refs":[{"kind":"log","ref":"log:1"}],"meta":{"idempotency_key":"run-1"},"observed_parameters":{"water_mm":12},"resource_usage":{"chemical_ml":null,"electric_kwh":1.5,"fuel_l":null,"water_l":120},"status":"executed","type":"ao_act_receipt_v0"},"type":"ao_act_receipt_v0"},"seq":1,"source":"cli","stream":"main"}', '\xd832397113b93f90bfe1ec56b94284555b36c9979b9011f4a94d17daa68d8b12');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 7, '{"fact_id":"01a1e3f2-c4ce-7892-ae7b-00d10c816db1","occurred_at":"2026-11-16T10:41:40.558Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"promotion/01a1e3f2-c364-7533-a744-22c8542610ba","payload":{"action_id":"01a1e3f2-c364-7533-a744-22c8542610ba","bytes":13,"manifest":"sha256:99790f95c97345ad0aec1f117bd4196a57d67fec071369ad1e2e5dfa622ec05d","paths":1,"promoted_at":"2026-11-16T10:41:40.553Z","proposal_digest":"sha256:4efbb28b9af06f0ac06e2c0303f852b6446921c0431f4b3bd8300a91d92d4eaa","recovered":false,"result_digest":"sha256:2a41b8307eaa38cec7ac15b2445cae5012f8d2d79f93585cff9adba8a7385c88","snapshot_digest":"sha256:b7d74749d15b7811eb28beae9d9942199a2008b63335016154cbc799d1b68453","status":"APPLIED","undo_until":"2026-11-30T10:41:40.553Z","window_ms":0.669},"type":"promotion_v1"},"seq":7,"source":"gate","stream":"main"}', '\x6a7c88dcbd742c8ef5c075a2ba774d372f59b8cd5de03e6fcfdaf8c98b402671');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 2, '{"fact_id":"01a1e3f2-c2f9-709a-ba3e-b202298839ac","occurred_at":"2026-11-16T10:41:40.089Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"at":1794825699998,"evaluator":{"name":"control-kernel","version":"1"},"inputs":{"permission_set":{"candidate_actions":[{"action_code":"AO-APPLY"},{"action_code":"AO-SENSE"}],"created_at_ts":1763190000000,"permission_set_id":"permission-2026-0042","scale":"plot","schema_version":"0.1.0","subjectRef":{"plotId":"7","projectId":"north-farm"},"type":"permission_set_v0","window":{"endTs":1763208000000,"startTs":1763193600000}},"problem_state":{"confidence":"HIGH","created_at_ts":1763190000000,"problem_scope":"spatial_unit","problem_state_id":"state-2026-0042","problem_type":"TIME_COVERAGE_GAPPY","rate_class_hint":"mid","scale":"plot","schema_version":"1.0.0","state_layer_hint":"derived","subjectRef":{"plotId":"7","projectId":"north-farm"},"type":"problem_state_v1","uncertainty_sources":["TIME_GAPS"],"window":{"endTs":1763208000000,"startTs":1763193600000}},"uncertainty_envelope":{"problem_state_ref":"state-2026-0042","schema_version":"0.1.0","type":"uncertainty_envelope_v0","uncertainty_sources":["EVIDENCE_SPARSE"]}},"rulesets":[{"document":{"action_code":"AO-APPLY","combine_strategy":"DENY_OVERRIDES","rules":[{"action_code":"AO-APPLY","guard":"IN(problem_state.problem_type, [\"EVIDENCE_CONFLICT\", \"REFERENCE_CONFLICT\"])","inputs_used":["problem_state.problem_type"],"rule_id":"conflict-denies","rule_owner":"Control Constitution","rule_version":"1.0.0","verdict":"DENY"},{"action_code":"AO-APPLY","guard":"INTERSECTS(uncertainty_envelope.uncertainty_sources[], [\"EVIDENCE_STALE\"])","inputs_used":["uncertainty_envelope.uncertainty_sources[]"],"rule_id":"stale-denies","rule_owner":"Control Constitution","rule_version":"1.0.0","verdict":"DENY"},{"action_code":"AO-APPLY","guard":"EQ(problem_state.confidence, \"HIGH\") AND WINDOW_MATCH()","inputs_used":["problem_state.confidence","problem_state.window.startTs","problem_state.window.endTs","permission_set.window.startTs","permission_set.window.endTs"],"rule_id":"sure-allows","rule_owner":"Control Constitution","rule_version":"1.1.0","verdict":"ALLOW"}],"ruleset_id":"apply","schema_version":"0.1.0","type":"ruleset_v0"},"ref":"sha256:e26768c38c1edaa31bf826c67828234eb987c7f248e48b7b165f5b606973f877"},{"document":{"action_code":"AO-SENSE","combine_strategy":"FIRST_MATCH","rules":[{"action_code":"AO-SENSE","guard":"INTERSECTS(problem_state.uncertainty_sources[], [\"TIME_GAPS\", \"SPARSE_SAMPLING\"])","inputs_used":["problem_state.uncertainty_sources[]"],"rule_id":"gaps-allow","rule_owner":"Control Constitution","rule_version":"1.0.0","verdict":"ALLOW"},{"action_code":"AO-SENSE","guard":"EQ(problem_state.problem_type, \"SENSOR_SUSPECT\")","inputs_used":["problem_state.problem_type"],"rule_id":"suspect-denies","rule_owner":"Control Constitution","rule_version":"1.0.0","verdict":"DENY"}],"ruleset_id":"sense","schema_version":"0.1.0","type":"ruleset_v0"},"ref":"sha256:2ce7a777b2146d55ebe69f65a770edeebe939b9072ae9683d7c5860f5ae9cf45"}],"verdicts":[{"action_code":"AO-APPLY","evaluated_at_ts":1794825699998,"rule_ref":"apply/sure-allows@1.1.0","ruleset_ref":"sha256:e26768c38c1edaa31bf826c67828234eb987c7f248e48b7b165f5b606973f877","ruleset_status":"APPLIED","schema_version":"0.1.0","subjectRef":{"plotId":"7","projectId":"north-farm"},"type":"control_verdict_v0","verdict":"ALLOW","verdict_id":"sha256:4183223af697f2fd2f718d59fe321132830d9613de28f9dade256f4ea3814d3d","window":{"endTs":1763208000000,"startTs":1763193600000}},{"action_code":"AO-SENSE","evaluated_at_ts":1794825699998,"rule_ref":"sense/gaps-allow@1.0.0","ruleset_ref":"sha256:2ce7a777b2146d55ebe69f65a770edeebe939b9072ae9683d7c5860f5ae9cf45","ruleset_status":"APPLIED","schema_version":"0.1.0","subjectRef":{"plotId":"7","projectId":"north-farm"},"type":"control_verdict_v0","verdict":"ALLOW","verdict_id":"sha256:b7a4d98ca6d98b8dd412bbd8e82998720065cb5eff58740e904a88a033dd79bb","window":{"endTs":1763208000000,"startTs":1763193600000}}]},"type":"control_evaluation_v0"},"seq":2,"source":"cli","stream":"main"}', '\x7ea5d286b8eafb53e51f68c6036b98c04dc491750e9383c799f0d2c5e85d0743');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 3, '{"fact_id":"01a1e3f2-c44e-730a-bef6-3fafff32ef57","occurred_at":"2026-11-16T10:41:40.430Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"proposal/01a1e3f2-c364-7533-a744-22c8542610ba","original":{"body":"sha256:d1606f6ab4eeac8290fb898dfd8aa4709638972c3d685ae49dba369414b68efd","bytes":1226},"payload":{"descriptor":{"action_id":"01a1e3f2-c364-7533-a744-22c8542610ba","action_type":"COMMAND_EXECUTION","audit":{"log":true,"log_level":"SUMMARY","retain_days":30},"confirmation":{"cooldown_on_repeat":false,"reason":"","required":false},"created_at":"2026-11-16T10:41:40.196Z","created_by":"ai","descriptor_version":"1.0","effects":{"filesystem":{"create":["/tmp/writ-frozen/postgres/project/**"],"delete":[],"modify":["/tmp/writ-frozen/postgres/project/**"]},"network":false,"system_state_change":false},"intent_summary":"Run sh as a command of writ exec.","preconditions":{"network_available":false,"paths_exist":[],"user_idle":false},"resources":{"max_cpu_ms":3600000,"max_disk_mb":4096,"max_duration_ms":3600000,"max_memory_mb":4096},"risk_level":"MEDIUM","rollback":{"rollback_scope":"declared_effects_only","rollback_type":"filesystem_snapshot","supported":true},"sandbox":{"allow_network":false,"max_runs":1,"required":true,"sandbox_type":"container"},"scope":{"filesystem":{"paths":["/tmp/writ-frozen/postgres/project"],"recursive":true},"network":{"required":false},"ui":{"required":false}}},"operation":{"argv":["sh","-c","echo second >> notes.txt"],"cwd":"/tmp/writ-frozen/postgres/project","type":"COMMAND_EXECUTION"}},"type":"proposal_v1"},"seq":3,"source":"gate","stream":"main"}', '\xb21c0f57e0c8c1115d8896795ce263bcc2be8ab059f060ed68052477b3c33e2b');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 4, '{"fact_id":"01a1e3f2-c492-7c03-b448-949f8518d14f","occurred_at":"2026-11-16T10:41:40.498Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"result/01a1e3f2-c364-7533-a744-22c8542610ba","payload":{"action_id":"01a1e3f2-c364-7533-a744-22c8542610ba","compliance":{"effects_declared":true,"rollback_possible":true,"sandbox_as_required":true,"within_resources":true,"within_scope":true},"controls":[{"name":"user_namespace","profile":"single_user"},{"name":"pid_namespace"},{"name":"mount_namespace"},{"name":"ipc_namespace"},{"name":"uts_namespace"},{"name":"network_namespace","profile":"none"},{"name":"no_new_privileges"},{"name":"seccomp","profile":"unix_sockets_inside"},{"detail":"/tmp/writ-frozen/postgres/home /tmp/writ-frozen/postgres/project","name":"overlay","profile":"disk"},{"detail":"12 places","name":"hidden"},{"name":"control_group","profile":"kernel"}],"diff":{"added":[],"bytes":13,"counts":{"added":0,"deleted":0,"modified":1},"deleted":[],"manifest":"sha256:99790f95c97345ad0aec1f117bd4196a57d67fec071369ad1e2e5dfa622ec05d","modified":[{"after":"sha256:dbea9325179efe46ea2add94f7b6b745ca983fabb208dc6d34aa064623d7ee23","before":"sha256:b640e840b19d378660b32fb51ae18d67dccb4a8596a29e7bd72c1b2ae5928f41","class":"staged","kind":"file","mode":"0644","path":"/tmp/writ-frozen/postgres/project/notes.txt","size":13}]},"execution":{"ended_at":"2026-11-16T10:41:40.442Z","exit_code":0,"signal":null,"started_at":"2026-11-16T10:41:40.437Z","status":"SUCCESS"},"findings":[],"outputs":{"stderr":"","stdout":"","truncated":false},"proposal_digest":"sha256:4efbb28b9af06f0ac06e2c0303f852b6446921c0431f4b3bd8300a91d92d4eaa","resources":{"cpu_ms":2,"disk_mb":0.1,"duration_ms":5,"enforced_by":{"cpu":"polled","disk":"polled","duration":"polled","memory":"kernel","processes":"kernel"},"memory_peak_mb":1.4,"processes":1},"sandbox_id":"de332adb-d3b7-4ee3-904b-1817f00cd064","side_effects":{"background_processes":0,"devices":false,"network":[],"privileged":false}},"type":"sandbox_result_v1"},"seq":4,"source":"gate","stream":"main"}', '\x542edcf11cf1d692119c6d7a6c46b9f1bff6b14363b714beaf230835c9f66b60');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 5, '{"fact_id":"01a1e3f2-c492-7f50-9ecc-b75e31268ac7","occurred_at":"2026-11-16T10:41:40.498Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"evaluation/01a1e3f2-c364-7533-a744-22c8542610ba","payload":{"action_id":"01a1e3f2-c364-7533-a744-22c8542610ba","action_type":"COMMAND_EXECUTION","actor_kind":"human","basis":{"actor":"ann","facts_seen":{"host":10,"stream":3},"home":"/tmp/writ-frozen/postgres/home","machine":"vm","overrides":[],"recent_rollbacks":0},"comparison":{"path_directories":["/usr/bin","/usr/sbin"],"scripts_changed":[],"steps":[]},"cooldown_on_repeat":false,"declared_by_approval":false,"door":"exec","evaluator":{"name":"gate","version":"2"},"host":{"ceilings":{"max_cpu_ms":3600000,"max_disk_mb":20480,"max_duration_ms":3600000,"max_memory_mb":8192},"homes":[{"own":false,"path":"/root"},{"own":false,"path":"/home/writ-test"},{"own":true,"path":"/tmp/writ-frozen/postgres/home"}],"max_age_ms":3600000,"max_future_ms":60000,"now_ms":1794825700398,"real_paths":[],"roots":[{"declared":"/tmp/writ-frozen/postgres/project","device":"65024","filesystem":"ext4","inode":"2230741","kind":"directory","mounts":[],"read_only":false,"real":"/tmp/writ-frozen/postgres/project"}],"seen_action_ids":[],"workspace":"/tmp/writ-frozen/postgres/project","writ_places":["/tmp/writ-frozen/postgres/home/.local/state/writ","/tmp/writ-frozen/postgres/project/.writ"]},"intent":"sha256:49972dcd767ec0cedc87bff5f41f3037bae7c4f8bb26a1f2129cb06d0056423a","law_outcomes":[],"laws":"sha256:f3f76afbf7ac4b7e3ae9b8b5fe76c61415f654b08a93f46f9cc442fca313fdab","lists":"sha256:dc19c7fe3914c8f827fc70ec968fcfc2b6a0c5bc5bfc96ebaa27ccd3ba92bf0c","obstacles":[],"operation_digest":"sha256:0f15f15fb3d29fbf0ef028b62b5ac6b3e8da14f3021e9b9cb4dd8058c92e0785","preconditions":{"failed":[]},"proposal_digest":"sha256:4efbb28b9af06f0ac06e2c0303f852b6446921c0431f4b3bd8300a91d92d4eaa","result_digest":"sha256:2a41b8307eaa38cec7ac15b2445cae5012f8d2d79f93585cff9adba8a7385c88","risk":{"declared":"MEDIUM","effective":"MEDIUM","floor":"MEDIUM"},"standing":{"background_before":false,"cooldown_until_ms":null,"halted":false,"laws_changed":false,"permanent":false,"reconfirm":false},"violations":[]},"type":"evaluation_v1"},"seq":5,"source":"gate","stream":"main"}', '\x82ee13d66084f6c260740bb6746e743646c6794794127ee619cc9694eb83f778');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 6, '{"fact_id":"01a1e3f2-c492-7fa0-822f-e70c91c7228d","occurred_at":"2026-11-16T10:41:40.498Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"decision/01a1e3f2-c364-7533-a744-22c8542610ba","payload":{"action_id":"01a1e3f2-c364-7533-a744-22c8542610ba","code":"promote.ok","codes":["promote.ok"],"decided_at":"2026-11-16T10:41:40.462Z","decision":"PROMOTE","law_refs":[],"permanent":false,"proposal_digest":"sha256:4efbb28b9af06f0ac06e2c0303f852b6446921c0431f4b3bd8300a91d92d4eaa","result_digest":"sha256:2a41b8307eaa38cec7ac15b2445cae5012f8d2d79f93585cff9adba8a7385c88"},"type":"decision_v1"},"seq":6,"source":"gate","stream":"main"}', '\x98fb4652811b660e99ee1b4d074f46af4e6ad7fc0de6dc86fa2e8f9e006c0ef4');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 8, '{"fact_id":"01a1e3f2-c69e-7286-9c92-b89b0981dbce","occurred_at":"2026-11-16T10:41:41.022Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"rollback/d38e5c02-6ffd-41be-b21d-9bab86d4e5f0","payload":{"action_ids":["01a1e3f2-c364-7533-a744-22c8542610ba"],"recovered":false,"restored":1,"rollback_id":"d38e5c02-6ffd-41be-b21d-9bab86d4e5f0","rolled_back_at":"2026-11-16T10:41:40.984Z","verified":true},"type":"rollback_v1"},"seq":8,"source":"gate","stream":"main"}', '\x1d6e1b38a01f05e9c9a1756fec30ff6cae79031299486d9f2e25dff9c55026d1');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 9, '{"fact_id":"01a1e3f2-c8c6-7c9d-9596-c9c75fcc9987","occurred_at":"2026-11-16T10:41:41.574Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"proposal/01a1e3f2-c773-790b-a636-ae68fd85f5fc","original":{"body":"sha256:1e82535a2c1dfa95b46117ab79b0accdf9022b2363fda99be3f50c17df3c683d","bytes":1360},"payload":{"descriptor":{"action_id":"01a1e3f2-c773-790b-a636-ae68fd85f5fc","action_type":"COMMAND_EXECUTION","audit":{"log":true,"log_level":"SUMMARY","retain_days":30},"confirmation":{"cooldown_on_repeat":false,"reason":"","required":false},"created_at":"2026-11-16T10:41:41.235Z","created_by":"ai","descriptor_version":"1.0","effects":{"filesystem":{"create":["/tmp/writ-frozen/postgres/project/**"],"delete":["/tmp/writ-frozen/postgres/project/**"],"modify":["/tmp/writ-frozen/postgres/project/**"]},"network":false,"system_state_change":false},"intent_summary":"Run sh as a command of writ exec.","preconditions":{"network_available":false,"paths_exist":[],"user_idle":false},"resources":{"max_cpu_ms":3600000,"max_disk_mb":4096,"max_duration_ms":3600000,"max_memory_mb":4096},"risk_level":"MEDIUM","rollback":{"rollback_scope":"declared_effects_only","rollback_type":"filesystem_snapshot","supported":true},"sandbox":{"allow_network":false,"max_runs":1,"required":true,"sandbox_type":"container"},"scope":{"filesystem":{"paths":["/tmp/writ-frozen/postgres/project"],"recursive":true},"network":{"required":false},"ui":{"required":false}}},"operation":{"argv":["sh","-c","echo third > notes.txt; rm old/gone.txt; mkdir -p new; echo n > new/n.txt; ln -s n.txt new/link; chmod 600 docs/guide.md"],"cwd":"/tmp/writ-frozen/postgres/project","type":"COMMAND_EXECUTION"}},"type":"proposal_v1"},"seq":9,"source":"gate","stream":"main"}', '\x6678e909aad4cfad8f6003cdb9f66a469f06a52349d359a87aaad5d14dda888b');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 10, '{"fact_id":"01a1e3f2-c921-7a1b-b38c-7b699452fc27","occurred_at":"2026-11-16T10:41:41.665Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"result/01a1e3f2-c773-790b-a636-ae68fd85f5fc","payload":{"action_id":"01a1e3f2-c773-790b-a636-ae68fd85f5fc","compliance":{"effects_declared":true,"rollback_possible":true,"sandbox_as_required":true,"within_resources":true,"within_scope":true},"controls":[{"name":"user_namespace","profile":"single_user"},{"name":"pid_namespace"},{"name":"mount_namespace"},{"name":"ipc_namespace"},{"name":"uts_namespace"},{"name":"network_namespace","profile":"none"},{"name":"no_new_privileges"},{"name":"seccomp","profile":"unix_sockets_inside"},{"detail":"/tmp/writ-frozen/postgres/home /tmp/writ-frozen/postgres/project","name":"overlay","profile":"disk"},{"detail":"12 places","name":"hidden"},{"name":"control_group","profile":"kernel"}],"diff":{"added":[{"class":"staged","kind":"directory","mode":"0755","path":"/tmp/writ-frozen/postgres/project/new","size":0},{"class":"staged","kind":"symlink","mode":"0777","path":"/tmp/writ-frozen/postgres/project/new/link","size":0,"target":"n.txt"},{"after":"sha256:a4fb621495a0122493b2203591c448903c472e306a1ede54fabad829e01075c0","class":"staged","kind":"file","mode":"0644","path":"/tmp/writ-frozen/postgres/project/new/n.txt","size":2}],"bytes":16,"counts":{"added":3,"deleted":1,"modified":2},"deleted":[{"before":"sha256:361e43b2807ccd19fee0e8a048e8a5eba22d718a12819a2e98e5e7901c72f433","class":"staged","kind":"file","mode":"0644","path":"/tmp/writ-frozen/postgres/project/old/gone.txt","size":14}],"manifest":"sha256:7ff160dba720f62e8872ae8852b66d2c3d212e2bb59dcc59d227dcca5cf98b65","modified":[{"after":"sha256:bc553ffe57e544498b12a9865dbf3abc2004c474e349c52c378eaa402287424b","before":"sha256:bc553ffe57e544498b12a9865dbf3abc2004c474e349c52c378eaa402287424b","class":"staged","kind":"file","mode":"0600","path":"/tmp/writ-frozen/postgres/project/docs/guide.md","size":8},{"after":"sha256:5eef8098ed6ec0a16249fc7c12422027fc9fd75b16130cc9382cf09102014796","before":"sha256:b640e840b19d378660b32fb51ae18d67dccb4a8596a29e7bd72c1b2ae5928f41","class":"staged","kind":"file","mode":"0644","path":"/tmp/writ-frozen/postgres/project/notes.txt","size":6}]},"execution":{"ended_at":"2026-11-16T10:41:41.602Z","exit_code":0,"signal":null,"started_at":"2026-11-16T10:41:41.583Z","status":"SUCCESS"},"findings":[],"outputs":{"stderr":"","stdout":"","truncated":false},"proposal_digest":"sha256:a4bf6972d41debd394d1f543219913e390788f68ef842ec6d9364ee1f687634f","resources":{"cpu_ms":8,"disk_mb":0.1,"duration_ms":19,"enforced_by":{"cpu":"polled","disk":"polled","duration":"polled","memory":"kernel","processes":"kernel"},"memory_peak_mb":1.8,"processes":2},"sandbox_id":"8c36a51f-59f5-49a6-8e04-cc02f9179506","side_effects":{"background_processes":0,"devices":false,"network":[],"privileged":false}},"type":"sandbox_result_v1"},"seq":10,"source":"gate","stream":"main"}', '\x7848e02ccf0e5b785c6f6f5e036b11edfd39ec04707d4c71cc864a49d597ff53');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 11, '{"fact_id":"01a1e3f2-c921-756b-8024-7bb5673805dc","occurred_at":"2026-11-16T10:41:41.665Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"evaluation/01a1e3f2-c773-790b-a636-ae68fd85f5fc","payload":{"action_id":"01a1e3f2-c773-790b-a636-ae68fd85f5fc","action_type":"COMMAND_EXECUTION","actor_kind":"human","basis":{"actor":"ann","facts_seen":{"host":10,"stream":9},"home":"/tmp/writ-frozen/postgres/home","machine":"vm","overrides":[],"recent_rollbacks":1},"comparison":{"path_directories":["/usr/bin","/usr/sbin"],"scripts_changed":[],"steps":[]},"cooldown_on_repeat":false,"declared_by_approval":false,"door":"exec","evaluator":{"name":"gate","version":"2"},"host":{"ceilings":{"max_cpu_ms":3600000,"max_disk_mb":20480,"max_duration_ms":3600000,"max_memory_mb":8192},"homes":[{"own":false,"path":"/root"},{"own":false,"path":"/home/writ-test"},{"own":true,"path":"/tmp/writ-frozen/postgres/home"}],"max_age_ms":3600000,"max_future_ms":60000,"now_ms":1794825701525,"real_paths":[],"roots":[{"declared":"/tmp/writ-frozen/postgres/project","device":"65024","filesystem":"ext4","inode":"2230741","kind":"directory","mounts":[],"read_only":false,"real":"/tmp/writ-frozen/postgres/project"}],"seen_action_ids":[],"workspace":"/tmp/writ-frozen/postgres/project","writ_places":["/tmp/writ-frozen/postgres/home/.local/state/writ","/tmp/writ-frozen/postgres/project/.writ"]},"intent":"sha256:00fb1bff60620f20dc0803b0d9dc92ad6988b92299057254fbd9365a56a6efcd","law_outcomes":[],"laws":"sha256:f3f76afbf7ac4b7e3ae9b8b5fe76c61415f654b08a93f46f9cc442fca313fdab","lists":"sha256:dc19c7fe3914c8f827fc70ec968fcfc2b6a0c5bc5bfc96ebaa27ccd3ba92bf0c","obstacles":[],"operation_digest":"sha256:404241cc199f445e4a73f6d775092cd945efef06838c8e2319780573819edf25","preconditions":{"failed":[]},"proposal_digest":"sha256:a4bf6972d41debd394d1f543219913e390788f68ef842ec6d9364ee1f687634f","result_digest":"sha256:11e2ecdd0a8f4738ce8e10b1daf8733c9bdcacda349f23d8d08695e29d8b318d","risk":{"declared":"MEDIUM","effective":"MEDIUM","floor":"MEDIUM"},"standing":{"background_before":false,"cooldown_until_ms":null,"halted":false,"laws_changed":false,"permanent":false,"reconfirm":false},"violations":[]},"type":"evaluation_v1"},"seq":11,"source":"gate","stream":"main"}', '\xe65466c0b2e4b1052dff8b11e85f40fe201720abd2dd2db6fb16e98f30f55c2b');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 12, '{"fact_id":"01a1e3f2-c921-77c6-be28-60891f13e465","occurred_at":"2026-11-16T10:41:41.665Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"decision/01a1e3f2-c773-790b-a636-ae68fd85f5fc","payload":{"action_id":"01a1e3f2-c773-790b-a636-ae68fd85f5fc","code":"promote.ok","codes":["promote.ok"],"decided_at":"2026-11-16T10:41:41.628Z","decision":"PROMOTE","law_refs":[],"permanent":false,"proposal_digest":"sha256:a4bf6972d41debd394d1f543219913e390788f68ef842ec6d9364ee1f687634f","result_digest":"sha256:11e2ecdd0a8f4738ce8e10b1daf8733c9bdcacda349f23d8d08695e29d8b318d"},"type":"decision_v1"},"seq":12,"source":"gate","stream":"main"}', '\x4b6e4f74f070f74f6e771aa02ad1aa8cc8a8d81dc3a5d417bb96f6cf6d188ad8');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 13, '{"fact_id":"01a1e3f2-c95c-727c-b96f-cd5854aaec1b","occurred_at":"2026-11-16T10:41:41.724Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"promotion/01a1e3f2-c773-790b-a636-ae68fd85f5fc","payload":{"action_id":"01a1e3f2-c773-790b-a636-ae68fd85f5fc","bytes":16,"manifest":"sha256:7ff160dba720f62e8872ae8852b66d2c3d212e2bb59dcc59d227dcca5cf98b65","paths":6,"promoted_at":"2026-11-16T10:41:41.720Z","proposal_digest":"sha256:a4bf6972d41debd394d1f543219913e390788f68ef842ec6d9364ee1f687634f","recovered":false,"result_digest":"sha256:11e2ecdd0a8f4738ce8e10b1daf8733c9bdcacda349f23d8d08695e29d8b318d","snapshot_digest":"sha256:ad2f579fff2ab090c65629cde0b80eea3e8f42093cedccc31712d0ca49141c54","status":"APPLIED","undo_until":"2026-11-30T10:41:41.720Z","window_ms":2.488},"type":"promotion_v1"},"seq":13,"source":"gate","stream":"main"}', '\xb593da9ccef8761e5c980193a75e461e896ffef9882fc28e584cdf26ab743ac9');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (1, 10, '{"fact_id":"01a1e3f2-cce6-7983-b6f7-d675dfb36dd1","occurred_at":"2026-11-16T10:41:42.630Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"last_size":11,"new_key":"writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4/host+79699c6c+AYEtXsKPt7IPuE/eLKEWSvAurqa7CbcMlHZNkEVz+seU","old_key":"writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4/host+164ac6d9+AepMKZrlgHUuDzLbc88Z15+/RRS2TVS/oP5E8UDG9jRP","origin":"writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4/host","stream":"host"},"type":"key_rotated_v1"},"seq":10,"source":"cli","stream":"host"}', '\xf48482626bb8c7f1f08d7634c914230835a0d6be9f749de3e2c6186ee2d4bce5');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 14, '{"fact_id":"01a1e3f2-cce7-7b0d-bf2e-ec99ebe0d053","occurred_at":"2026-11-16T10:41:42.631Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"last_size":15,"new_key":"writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4/main+40e42adf+AYEtXsKPt7IPuE/eLKEWSvAurqa7CbcMlHZNkEVz+seU","old_key":"writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4/main+48877574+AepMKZrlgHUuDzLbc88Z15+/RRS2TVS/oP5E8UDG9jRP","origin":"writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4/main","stream":"main"},"type":"key_rotated_v1"},"seq":14,"source":"cli","stream":"main"}', '\x455aefc9943fdbefdad01efd22857896a11531bb4359a49dc2ed4dbcd58cbb9b');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 15, '{"fact_id":"01a1e3f2-cdd4-7ec4-b404-cb58a375af61","occurred_at":"2026-11-16T10:41:42.868Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/0","payload":{"at":"2026-11-16T10:41:42.846Z","flow_digest":"sha256:5ac06dd5c5236575b15eaf2d15d40f147deb6608199d038d952812bceebd02e7","flow_id":"frozen","nonce":"5b5d9cf6692842f928690fb4d430f609","origin":{"evaluator":{"name":"flow","version":"1"},"participants_digest":null,"workspace":"/tmp/writ-frozen/postgres/project"},"run_id":"run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683","seq":0},"type":"flow_started_v1"},"seq":15,"source":"flow","stream":"main"}', '\x646aec3c1455f208b284c4f18008d3c27a3b6ee3dd1ad0a90337339b3a3b9854');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 16, '{"fact_id":"01a1e3f2-cdd4-7d6e-9f1e-8cabe8cf2140","occurred_at":"2026-11-16T10:41:42.868Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/1","payload":{"at":"2026-11-16T10:41:42.846Z","cause":"start","is_fresh":true,"kind":"entered","node_id":"a","round":1,"run_id":"run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683","seq":1},"type":"flow_event_v1"},"seq":16,"source":"flow","stream":"main"}', '\xf0f61dfb71afbdb213e82b1a7bd8b2f65cf47b51636f6d162b4d50e54d199641');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 17, '{"fact_id":"01a1e3f2-cdd5-7691-a0cb-7d7e342ce2b9","occurred_at":"2026-11-16T10:41:42.869Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/2","payload":{"at":"2026-11-16T10:41:42.846Z","command":{"access":[],"attempt":1,"command":2,"delay_seconds":0,"input":{"last_error":null,"last_review":null,"previous_output_path":null},"node_id":"a","participant":{"command":["node","worker.mjs"]},"review":null,"stands_on":[],"type":"run_participant"},"kind":"commanded","run_id":"run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683","seq":2},"type":"flow_event_v1"},"seq":17,"source":"flow","stream":"main"}', '\x54276fabb0a15f53209cb2720b9f2f26a87338a16418c9a72d161e992b1b76a1');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 18, '{"fact_id":"01a1e3f2-cde0-70f6-aafa-b7b755ff140e","occurred_at":"2026-11-16T10:41:42.880Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/3","payload":{"at":"2026-11-16T10:41:42.875Z","event":{"at":"2026-11-16T10:41:42.875Z","command":2,"node_id":"a","nonce":"5eac28451615d0bc324fc73ffdd7c888","type":"attempt_started"},"kind":"event","run_id":"run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683","seq":3},"type":"flow_event_v1"},"seq":18,"source":"flow","stream":"main"}', '\x80263d91b4bb6a55f50e38956976a373fb0f0e96d416680039886d49a9b064df');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 19, '{"fact_id":"01a1e3f2-ce34-75fe-9165-476bcea62297","occurred_at":"2026-11-16T10:41:42.964Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"proposal/5c0a4776-315e-4746-8ea0-fb6dca3dc8a3","original":{"body":"sha256:fdc69ecf45297183c8cd5f36e2568489d7bf3191fc629e52db4686c9f53576bb","bytes":1631},"payload":{"descriptor":{"action_id":"5c0a4776-315e-4746-8ea0-fb6dca3dc8a3","action_type":"COMMAND_EXECUTION","audit":{"log":true,"log_level":"DETAILED","retain_days":30},"confirmation":{"cooldown_on_repeat":false,"reason":"","required":false},"created_at":"2026-11-16T10:41:42.932Z","created_by":"ai","descriptor_version":"1.0","effects":{"filesystem":{"create":["/tmp/writ-frozen/postgres/project/**","/tmp/writ-frozen/postgres/project/artifacts/a/1/**"],"delete":["/tmp/writ-frozen/postgres/project/**","/tmp/writ-frozen/postgres/project/artifacts/a/1/**"],"modify":["/tmp/writ-frozen/postgres/project/**","/tmp/writ-frozen/postgres/project/artifacts/a/1/**"]},"network":false,"system_state_change":false},"intent_summary":"Work at the node a of a flow, attempt 1: .","preconditions":{"network_available":false,"paths_exist":[],"user_idle":false},"resources":{"max_cpu_ms":3600000,"max_disk_mb":2048,"max_duration_ms":3600000,"max_memory_mb":4096},"risk_level":"MEDIUM","rollback":{"rollback_scope":"declared_effects_only","rollback_type":"filesystem_snapshot","supported":true},"sandbox":{"allow_network":false,"max_runs":1,"required":true,"sandbox_type":"container"},"scope":{"filesystem":{"paths":["/tmp/writ-frozen/postgres/project"],"recursive":true},"network":{"required":false},"ui":{"required":false}}},"operation":{"argv":["node","worker.mjs"],"cwd":"/tmp/writ-frozen/postgres/project","stdin":"redacted","type":"COMMAND_EXECUTION"}},"type":"proposal_v1"},"seq":19,"source":"gate","stream":"main"}', '\x11e88a284f71a959b0796c21da1f2238ef384aa8933a3976c957ff92cc9c0f61');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 20, '{"fact_id":"01a1e3f2-cecb-743d-9795-07b69282839c","occurred_at":"2026-11-16T10:41:43.115Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"proposal/21ef3419-5674-4c12-bee5-6bf6e0d8585a","original":{"body":"sha256:84bd736f3a0b92e55c2272808334f5418a3377f043051246aff90aa3969be72d","bytes":1403},"payload":{"descriptor":{"action_id":"21ef3419-5674-4c12-bee5-6bf6e0d8585a","action_type":"COMMAND_EXECUTION","audit":{"log":true,"log_level":"DETAILED","retain_days":30},"confirmation":{"cooldown_on_repeat":false,"reason":"","required":false},"created_at":"2026-11-16T10:41:43.055Z","created_by":"ai","descriptor_version":"1.0","effects":{"filesystem":{"create":["/tmp/writ-frozen/postgres/project/**","/tmp/writ-frozen/postgres/project/artifacts/a/1/**"],"delete":["/tmp/writ-frozen/postgres/project/**","/tmp/writ-frozen/postgres/project/artifacts/a/1/**"],"modify":["/tmp/writ-frozen/postgres/project/**","/tmp/writ-frozen/postgres/project/artifacts/a/1/**"]},"network":false,"system_state_change":false},"intent_summary":"Work at the node a of a flow, attempt 1: .","preconditions":{"network_available":false,"paths_exist":[],"user_idle":false},"resources":{"max_cpu_ms":3600000,"max_disk_mb":2048,"max_duration_ms":3600000,"max_memory_mb":4096},"risk_level":"MEDIUM","rollback":{"rollback_scope":"declared_effects_only","rollback_type":"filesystem_snapshot","supported":true},"sandbox":{"allow_network":false,"max_runs":1,"required":true,"sandbox_type":"container"},"scope":{"filesystem":{"paths":["/tmp/writ-frozen/postgres/project"],"recursive":true},"network":{"required":false},"ui":{"required":false}}},"operation":{"argv":["true"],"cwd":"/tmp/writ-frozen/postgres/project","type":"COMMAND_EXECUTION"}},"type":"proposal_v1"},"seq":20,"source":"gate","stream":"main"}', '\x7d15ea9a2d9f08c8d3491f40bca9eb89797af062bdfde517cdad253c5bd21790');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 21, '{"fact_id":"01a1e3f2-cedd-70f9-b790-b5cb5aefa611","occurred_at":"2026-11-16T10:41:43.133Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/4","payload":{"at":"2026-11-16T10:41:43.128Z","event":{"at":"2026-11-16T10:41:43.128Z","command":2,"decision":"PROMOTE","node_id":"a","nonce":"922d7c14c959288771930a65982e7ebc","type":"gate_decision"},"kind":"event","run_id":"run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683","seq":4},"type":"flow_event_v1"},"seq":21,"source":"flow","stream":"main"}', '\xe2c98e38503041241d6a754a9b3b1169a9b54db6bf1e9d9a4a1347ec1ec70571');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 22, '{"fact_id":"01a1e3f2-cf03-7d46-b6de-0683a46dfa2f","occurred_at":"2026-11-16T10:41:43.171Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/5","payload":{"answer":{"document":{"artifact":{"content":"body:sha256:2f8c06ba16949927e43f70447995a61e9275892e89c6d7f67e13cc5250a3e2ee:9","format":"md","name":"out"},"result_type":"ARTIFACT","schema_version":"xiaobo_action_v1","task_id":"a"},"kind":"action"},"at":"2026-11-16T10:41:43.158Z","command":2,"errors":[],"node_id":"a","nonce":"96597abd4810d7a58890bde6b3f8ea2d","raw":"body:sha256:07451ec7c263a185012e0e83f9522fcbee68dbe77a6e593babaec4bb7855f145:89","repairs":["action.version /schema_version","action.task_id /task_id"],"run_id":"run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683","seq":5},"type":"participant_output_v1"},"seq":22,"source":"flow","stream":"main"}', '\xf307f785a6a9fe4389e706bdfcd404ec787edf8c2cba2105d2897184eda0f771');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 23, '{"fact_id":"01a1e3f2-cf4d-742e-9f5f-bcaf18b2f534","occurred_at":"2026-11-16T10:41:43.245Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"result/5c0a4776-315e-4746-8ea0-fb6dca3dc8a3","payload":{"action_id":"5c0a4776-315e-4746-8ea0-fb6dca3dc8a3","compliance":{"effects_declared":true,"rollback_possible":true,"sandbox_as_required":true,"within_resources":true,"within_scope":true},"controls":[{"name":"user_namespace","profile":"single_user"},{"name":"pid_namespace"},{"name":"mount_namespace"},{"name":"ipc_namespace"},{"name":"uts_namespace"},{"name":"network_namespace","profile":"none"},{"name":"no_new_privileges"},{"name":"seccomp","profile":"unix_sockets_inside"},{"detail":"/tmp/writ-frozen/postgres/home /tmp/writ-frozen/postgres/project","name":"overlay","profile":"disk"},{"detail":"12 places","name":"hidden"},{"name":"control_group","profile":"kernel"}],"diff":{"added":[{"class":"staged","kind":"directory","mode":"0755","path":"/tmp/writ-frozen/postgres/project/artifacts/a","size":0},{"class":"staged","kind":"directory","mode":"0755","path":"/tmp/writ-frozen/postgres/project/artifacts/a/1","size":0},{"after":"sha256:8c035a2548b96957c3cbdf5b1c91b6d0e1a07451be3af8a514cc5db10b010d16","class":"staged","kind":"file","mode":"0644","path":"/tmp/writ-frozen/postgres/project/artifacts/a/1/out.md","size":9}],"bytes":9,"counts":{"added":3,"deleted":0,"modified":0},"deleted":[],"manifest":"sha256:5378a5d21169e13d8e8ee013ad1ea1218f2f94094ca9393ea30effe074601f73","modified":[]},"execution":{"ended_at":"2026-11-16T10:41:43.156Z","exit_code":0,"signal":null,"started_at":"2026-11-16T10:41:42.968Z","status":"SUCCESS"},"findings":[{"code":"effect.not_observed","detail":"delete","path":"/tmp/writ-frozen/postgres/project/**"},{"code":"effect.not_observed","detail":"delete","path":"/tmp/writ-frozen/postgres/project/artifacts/a/1/**"}],"outputs":{"stderr":"","stdout":"body:sha256:31d229e1bf258cfc961e5bcb859d33e466fccdc26604532a99d3919bcc7f252f:89","truncated":false},"proposal_digest":"sha256:03ff6436c3aaf589fa9197176fa67ccfcdf42edbc91f8c38cd2af3ec2b3941ce","resources":{"cpu_ms":38,"disk_mb":0.1,"duration_ms":188,"enforced_by":{"cpu":"polled","disk":"polled","duration":"polled","memory":"kernel","processes":"kernel"},"memory_peak_mb":8.1,"processes":11},"sandbox_id":"0abe881f-518d-4149-a3e3-81c26850b172","side_effects":{"background_processes":0,"devices":false,"network":[],"privileged":false}},"type":"sandbox_result_v1"},"seq":23,"source":"gate","stream":"main"}', '\xd48e15f3a4488485716a4bced9c070f1ba4b987d9167a9aeaa8befde16e3fe5d');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 24, '{"fact_id":"01a1e3f2-cf4d-7837-872b-fe6c493b8973","occurred_at":"2026-11-16T10:41:43.245Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"evaluation/5c0a4776-315e-4746-8ea0-fb6dca3dc8a3","payload":{"action_id":"5c0a4776-315e-4746-8ea0-fb6dca3dc8a3","action_type":"COMMAND_EXECUTION","actor_kind":"ai","basis":{"actor":"ann","facts_seen":{"host":11,"stream":19},"home":"/tmp/writ-frozen/postgres/home","machine":"vm","overrides":[],"recent_rollbacks":1},"comparison":{"path_directories":["/usr/bin","/usr/sbin"],"scripts_changed":[],"steps":[]},"cooldown_on_repeat":false,"declared_by_approval":false,"door":"propose","evaluator":{"name":"gate","version":"2"},"held":{"asked":false,"bases":[]},"host":{"ceilings":{"max_cpu_ms":3600000,"max_disk_mb":20480,"max_duration_ms":3600000,"max_memory_mb":8192},"homes":[{"own":false,"path":"/root"},{"own":false,"path":"/home/writ-test"},{"own":true,"path":"/tmp/writ-frozen/postgres/home"}],"max_age_ms":3600000,"max_future_ms":60000,"now_ms":1794825702936,"real_paths":[],"roots":[{"declared":"/tmp/writ-frozen/postgres/project","device":"65024","filesystem":"ext4","inode":"2230741","kind":"directory","mounts":[],"read_only":false,"real":"/tmp/writ-frozen/postgres/project"}],"seen_action_ids":[],"workspace":"/tmp/writ-frozen/postgres/project","writ_places":["/tmp/writ-frozen/postgres/home/.local/state/writ","/tmp/writ-frozen/postgres/project/.writ"]},"intent":"sha256:70ec32c6cf76caab3b0d1c650068f10151a0e61de5c32cf07d096464b75466c3","law_outcomes":[],"laws":"sha256:f3f76afbf7ac4b7e3ae9b8b5fe76c61415f654b08a93f46f9cc442fca313fdab","lists":"sha256:dc19c7fe3914c8f827fc70ec968fcfc2b6a0c5bc5bfc96ebaa27ccd3ba92bf0c","obstacles":[],"operation_digest":"sha256:486a9d9adb84833afc565f2986a6c01a7f5a2dcb888a27d6d6bcf218ca954a40","preconditions":{"failed":[]},"proposal_digest":"sha256:03ff6436c3aaf589fa9197176fa67ccfcdf42edbc91f8c38cd2af3ec2b3941ce","result_digest":"sha256:44d6e14306fcaa81adc3efe3225c0a5184cc14a27e75fc8d4a2f73c0a82578ed","risk":{"declared":"MEDIUM","effective":"MEDIUM","floor":"MEDIUM"},"standing":{"background_before":false,"cooldown_until_ms":null,"halted":false,"laws_changed":false,"permanent":false,"reconfirm":false},"violations":[]},"type":"evaluation_v1"},"seq":24,"source":"gate","stream":"main"}', '\xaa93f118ee78178bad8dc6a94b43dfa08ca67f6bf67d60e490d6f2917982c333');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 25, '{"fact_id":"01a1e3f2-cf4d-7bdc-91d9-4d7b50cc3b23","occurred_at":"2026-11-16T10:41:43.245Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"decision/5c0a4776-315e-4746-8ea0-fb6dca3dc8a3","payload":{"action_id":"5c0a4776-315e-4746-8ea0-fb6dca3dc8a3","code":"promote.ok","codes":["promote.ok","effect.not_observed"],"decided_at":"2026-11-16T10:41:43.201Z","decision":"PROMOTE","law_refs":[],"permanent":false,"proposal_digest":"sha256:03ff6436c3aaf589fa9197176fa67ccfcdf42edbc91f8c38cd2af3ec2b3941ce","result_digest":"sha256:44d6e14306fcaa81adc3efe3225c0a5184cc14a27e75fc8d4a2f73c0a82578ed"},"type":"decision_v1"},"seq":25,"source":"gate","stream":"main"}', '\x6757fff15af81ad5e1db0a0f364b3d0b7eb5f39f0f2bbd8d997eacae4c01076d');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 26, '{"fact_id":"01a1e3f2-cf61-7ca9-a531-9d25ccccf51d","occurred_at":"2026-11-16T10:41:43.265Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/6","payload":{"at":"2026-11-16T10:41:43.256Z","event":{"at":"2026-11-16T10:41:43.256Z","command":2,"node_id":"a","nonce":"2b7a76561e2e3a28a80d4e9be18a23db","outcome":"ended","principal":"participant:sha256:c07a33250dbe5a433b865a68afc7717afae992bedaf4a87c8ced397363ead8bb","required_files_exist":true,"seconds":0.2988492760006338,"stage":{"action_id":"5c0a4776-315e-4746-8ea0-fb6dca3dc8a3","manifest":"sha256:5378a5d21169e13d8e8ee013ad1ea1218f2f94094ca9393ea30effe074601f73","paths":["artifacts/a/1/out.md"]},"tokens":0,"type":"attempt_ended"},"kind":"event","run_id":"run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683","seq":6},"type":"flow_event_v1"},"seq":26,"source":"flow","stream":"main"}', '\xaa02b8fdfba58c9a7a8e97ba49d30c76008dc6557b7c08f18bcbd4f2ff3e68d1');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 27, '{"fact_id":"01a1e3f2-cf61-7e01-b9ff-a2d876d7cbb4","occurred_at":"2026-11-16T10:41:43.265Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/7","payload":{"at":"2026-11-16T10:41:43.256Z","delta":null,"digest":"sha256:8c035a2548b96957c3cbdf5b1c91b6d0e1a07451be3af8a514cc5db10b010d16","format":"md","kind":"artifact","node_id":"a","path":"artifacts/a/1/out.md","run_id":"run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683","seq":7},"type":"flow_event_v1"},"seq":27,"source":"flow","stream":"main"}', '\xf58364c9e3b009abc619b33e251d9c9ca45b5d09eca50d4b7c5afcb8fe4af6e2');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 28, '{"fact_id":"01a1e3f2-cf61-72c1-bfd7-79e96e8a4022","occurred_at":"2026-11-16T10:41:43.265Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/8","payload":{"at":"2026-11-16T10:41:43.256Z","kind":"staged","manifest":"sha256:5378a5d21169e13d8e8ee013ad1ea1218f2f94094ca9393ea30effe074601f73","node_id":"a","run_id":"run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683","seq":8,"stands_on":[]},"type":"flow_event_v1"},"seq":28,"source":"flow","stream":"main"}', '\x26415c765bec98c2858719caa413f031ab49558276c0c3dbde7ab3f11111123d');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 29, '{"fact_id":"01a1e3f2-cf61-729c-a194-231be0b9122b","occurred_at":"2026-11-16T10:41:43.265Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/9","payload":{"at":"2026-11-16T10:41:43.256Z","kind":"status","node_id":"a","run_id":"run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683","seq":9,"status":"submitted","why":"review"},"type":"flow_event_v1"},"seq":29,"source":"flow","stream":"main"}', '\x091356beb73c6d944642307dae5c1b82bf1fea0ff669502554a80cef06e2879f');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 30, '{"fact_id":"01a1e3f2-cf61-7e27-9293-e9d84305d354","occurred_at":"2026-11-16T10:41:43.265Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/10","payload":{"at":"2026-11-16T10:41:43.256Z","edge_id":"e","kind":"fired","round":1,"run_id":"run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683","seq":10},"type":"flow_event_v1"},"seq":30,"source":"flow","stream":"main"}', '\xfae30e5201a92a549a89127841f81505ef87d1fe080540a1a48be15dd4ad8eaf');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 31, '{"fact_id":"01a1e3f2-cf61-7ec1-97a8-519f04fb8935","occurred_at":"2026-11-16T10:41:43.265Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/11","payload":{"at":"2026-11-16T10:41:43.256Z","cause":"edge","is_fresh":true,"kind":"entered","node_id":"c","round":1,"run_id":"run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683","seq":11},"type":"flow_event_v1"},"seq":31,"source":"flow","stream":"main"}', '\x95fd67db563a56c392a85f28683444a56f9cbbbad9f5f2997da6619e919d09f0');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 32, '{"fact_id":"01a1e3f2-cf61-783e-a97a-bd8e2f4e1434","occurred_at":"2026-11-16T10:41:43.265Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/12","payload":{"at":"2026-11-16T10:41:43.256Z","command":{"access":[],"attempt":1,"command":12,"delay_seconds":0,"input":{"last_error":null,"last_review":null,"previous_output_path":null},"node_id":"c","participant":{"human":"ann"},"review":{"artifact_digest":"sha256:8c035a2548b96957c3cbdf5b1c91b6d0e1a07451be3af8a514cc5db10b010d16","artifact_path":"artifacts/a/1/out.md","review_id":"2b7a76561e2e3a28a80d4e9be18a23db.12","target":"a"},"stands_on":[{"manifest":"sha256:5378a5d21169e13d8e8ee013ad1ea1218f2f94094ca9393ea30effe074601f73","node_id":"a"}],"type":"run_participant"},"kind":"commanded","run_id":"run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683","seq":12},"type":"flow_event_v1"},"seq":32,"source":"flow","stream":"main"}', '\x153d713120e4e6256815d96280e43c21453e3230171d3f8849d6ccfe3dce2e88');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 33, '{"fact_id":"01a1e3f2-d0b8-7fdf-97a4-da038886e3a9","occurred_at":"2026-11-16T10:41:43.608Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"proposal/01a1e3f2-cfc0-7351-8ac8-b8d4727fc841","original":{"body":"sha256:0a074f639b2ded5db4fa4a339e25b9acfb2b30ee204fafa251984e378c6bcd02","bytes":1193},"payload":{"descriptor":{"action_id":"01a1e3f2-cfc0-7351-8ac8-b8d4727fc841","action_type":"COMMAND_EXECUTION","audit":{"log":true,"log_level":"SUMMARY","retain_days":30},"confirmation":{"cooldown_on_repeat":false,"reason":"The effects are declared by approving them.","required":true},"created_at":"2026-11-16T10:41:43.360Z","created_by":"ai","descriptor_version":"1.0","effects":{"filesystem":{"create":[],"delete":[],"modify":[]},"network":false,"system_state_change":false},"intent_summary":"Run sh as a command of writ exec.","preconditions":{"network_available":false,"paths_exist":[],"user_idle":false},"resources":{"max_cpu_ms":3600000,"max_disk_mb":4096,"max_duration_ms":3600000,"max_memory_mb":4096},"risk_level":"MEDIUM","rollback":{"rollback_scope":"scope","rollback_type":"filesystem_snapshot","supported":true},"sandbox":{"allow_network":false,"max_runs":1,"required":true,"sandbox_type":"container"},"scope":{"filesystem":{"paths":["/tmp/writ-frozen/postgres/project"],"recursive":true},"network":{"required":false},"ui":{"required":false}}},"operation":{"argv":["sh","-c","mkdir -p db && echo \"create\" > db/1.sql"],"cwd":"/tmp/writ-frozen/postgres/project","type":"COMMAND_EXECUTION"}},"type":"proposal_v1"},"seq":33,"source":"gate","stream":"main"}', '\x10596c163b1bdea486bd16f9acbda3f8199f6d9546a37c26db231132eb812c7b');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 34, '{"fact_id":"01a1e3f2-d0f3-71d8-b147-776ceade89e0","occurred_at":"2026-11-16T10:41:43.667Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"result/01a1e3f2-cfc0-7351-8ac8-b8d4727fc841","payload":{"action_id":"01a1e3f2-cfc0-7351-8ac8-b8d4727fc841","compliance":{"effects_declared":true,"rollback_possible":true,"sandbox_as_required":true,"within_resources":true,"within_scope":true},"controls":[{"name":"user_namespace","profile":"single_user"},{"name":"pid_namespace"},{"name":"mount_namespace"},{"name":"ipc_namespace"},{"name":"uts_namespace"},{"name":"network_namespace","profile":"none"},{"name":"no_new_privileges"},{"name":"seccomp","profile":"unix_sockets_inside"},{"detail":"/tmp/writ-frozen/postgres/home /tmp/writ-frozen/postgres/project","name":"overlay","profile":"disk"},{"detail":"12 places","name":"hidden"},{"name":"control_group","profile":"kernel"}],"diff":{"added":[{"class":"staged","kind":"directory","mode":"0755","path":"/tmp/writ-frozen/postgres/project/db","size":0},{"after":"sha256:0a03d89c3515d8d1d0f6d05f590116bc6c7c323d6fb448c1d6c3a38425fc98bc","class":"staged","kind":"file","mode":"0644","path":"/tmp/writ-frozen/postgres/project/db/1.sql","size":7}],"bytes":7,"counts":{"added":2,"deleted":0,"modified":0},"deleted":[],"manifest":"sha256:765e373879275e58693052f586bf8f8e7b905e78b448583d2287ed77c24629d2","modified":[]},"execution":{"ended_at":"2026-11-16T10:41:43.621Z","exit_code":0,"signal":null,"started_at":"2026-11-16T10:41:43.615Z","status":"SUCCESS"},"findings":[],"outputs":{"stderr":"","stdout":"","truncated":false},"proposal_digest":"sha256:afabf4ccf0d4c957caf814e6bd4cb5090f0ea4d2e2720856aac83763113070e6","resources":{"cpu_ms":3,"disk_mb":0.1,"duration_ms":6,"enforced_by":{"cpu":"polled","disk":"polled","duration":"polled","memory":"kernel","processes":"kernel"},"memory_peak_mb":1.8,"processes":2},"sandbox_id":"becc6e4c-c493-48ac-b002-42def6b8e347","side_effects":{"background_processes":0,"devices":false,"network":[],"privileged":false}},"type":"sandbox_result_v1"},"seq":34,"source":"gate","stream":"main"}', '\xba51534763b1be166fa614a28044941cce3fffec7b94c7e0aad67c7617040f14');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 35, '{"fact_id":"01a1e3f2-d0f3-7d0c-bb14-7888d33950d4","occurred_at":"2026-11-16T10:41:43.667Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"evaluation/01a1e3f2-cfc0-7351-8ac8-b8d4727fc841","payload":{"action_id":"01a1e3f2-cfc0-7351-8ac8-b8d4727fc841","action_type":"COMMAND_EXECUTION","actor_kind":"human","basis":{"actor":"ann","facts_seen":{"host":11,"stream":33},"home":"/tmp/writ-frozen/postgres/home","machine":"vm","overrides":[],"recent_rollbacks":1},"comparison":{"path_directories":["/usr/bin","/usr/sbin"],"scripts_changed":[],"steps":[]},"cooldown_on_repeat":false,"declared_by_approval":true,"door":"exec","evaluator":{"name":"gate","version":"2"},"host":{"ceilings":{"max_cpu_ms":3600000,"max_disk_mb":20480,"max_duration_ms":3600000,"max_memory_mb":8192},"homes":[{"own":false,"path":"/root"},{"own":false,"path":"/home/writ-test"},{"own":true,"path":"/tmp/writ-frozen/postgres/home"}],"max_age_ms":3600000,"max_future_ms":60000,"now_ms":1794825703564,"real_paths":[],"roots":[{"declared":"/tmp/writ-frozen/postgres/project","device":"65024","filesystem":"ext4","inode":"2230741","kind":"directory","mounts":[],"read_only":false,"real":"/tmp/writ-frozen/postgres/project"}],"seen_action_ids":[],"workspace":"/tmp/writ-frozen/postgres/project","writ_places":["/tmp/writ-frozen/postgres/home/.local/state/writ","/tmp/writ-frozen/postgres/project/.writ"]},"intent":"sha256:92248b3c454bce4986969998cc1c750c5b896bf1dd7a2a1da198fc158e72e90c","law_outcomes":[{"action":"confirm","overridden":false,"policy_id":"ASK_MIGRATIONS","reads_result":true,"state":"broken","tier":2}],"laws":"sha256:f3f76afbf7ac4b7e3ae9b8b5fe76c61415f654b08a93f46f9cc442fca313fdab","lists":"sha256:dc19c7fe3914c8f827fc70ec968fcfc2b6a0c5bc5bfc96ebaa27ccd3ba92bf0c","obstacles":[],"operation_digest":"sha256:e02b028e2ef8ddf3bbc12d2ac999ee6c9cc97d5a04d37cca83a978d7a059eb89","preconditions":{"failed":[]},"proposal_digest":"sha256:afabf4ccf0d4c957caf814e6bd4cb5090f0ea4d2e2720856aac83763113070e6","result_digest":"sha256:a3e939d9b6be00b3965986df9c5ef1e6fceeb4f6b49b05e2aec43fa05fe49a96","risk":{"declared":"MEDIUM","effective":"MEDIUM","floor":"MEDIUM"},"standing":{"background_before":false,"cooldown_until_ms":null,"halted":false,"laws_changed":false,"permanent":false,"reconfirm":false},"violations":[]},"type":"evaluation_v1"},"seq":35,"source":"gate","stream":"main"}', '\xce8768402e5f9cd27e237c0b5bf5c131a2bf97dc6a70641574676fb2ab8a122a');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 36, '{"fact_id":"01a1e3f2-d0f3-77b9-a0c6-805d67a87b72","occurred_at":"2026-11-16T10:41:43.667Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"decision/01a1e3f2-cfc0-7351-8ac8-b8d4727fc841","payload":{"action_id":"01a1e3f2-cfc0-7351-8ac8-b8d4727fc841","code":"confirm.law","codes":["confirm.law","law.ASK_MIGRATIONS","confirm.descriptor"],"decided_at":"2026-11-16T10:41:43.639Z","decision":"CONFIRM","law_refs":["ASK_MIGRATIONS"],"permanent":false,"proposal_digest":"sha256:afabf4ccf0d4c957caf814e6bd4cb5090f0ea4d2e2720856aac83763113070e6","result_digest":"sha256:a3e939d9b6be00b3965986df9c5ef1e6fceeb4f6b49b05e2aec43fa05fe49a96","tier":2},"type":"decision_v1"},"seq":36,"source":"gate","stream":"main"}', '\x0395a0a7223da8ee84103f5d2643b797c44c464d3a3bd89eff48d61c6179e795');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 37, '{"fact_id":"01a1e3f2-d245-7631-9879-c5b7afc1bc72","occurred_at":"2026-11-16T10:41:44.005Z","principal":{"id":"bot","kind":"ai","namespace":"farm"},"record":{"idempotency_key":"proposal/01a1e3f2-d168-7898-ad59-04f22ffe8675","original":{"body":"sha256:2eaa6710fec8cb9507abfd453983ca03f6ef356322d5c0872bfbf428044b9302","bytes":1241},"payload":{"descriptor":{"action_id":"01a1e3f2-d168-7898-ad59-04f22ffe8675","action_type":"COMMAND_EXECUTION","audit":{"log":true,"log_level":"SUMMARY","retain_days":30},"confirmation":{"cooldown_on_repeat":false,"reason":"","required":false},"created_at":"2026-11-16T10:41:43.784Z","created_by":"ai","descriptor_version":"1.0","effects":{"filesystem":{"create":["/tmp/writ-frozen/postgres/project/**"],"delete":[],"modify":["/tmp/writ-frozen/postgres/project/**"]},"network":false,"system_state_change":false},"intent_summary":"Run sh as a command of writ exec.","preconditions":{"network_available":false,"paths_exist":[],"user_idle":false},"resources":{"max_cpu_ms":3600000,"max_disk_mb":4096,"max_duration_ms":3600000,"max_memory_mb":4096},"risk_level":"MEDIUM","rollback":{"rollback_scope":"declared_effects_only","rollback_type":"filesystem_snapshot","supported":true},"sandbox":{"allow_network":false,"max_runs":1,"required":true,"sandbox_type":"container"},"scope":{"filesystem":{"paths":["/tmp/writ-frozen/postgres/project"],"recursive":true},"network":{"required":false},"ui":{"required":false}}},"operation":{"argv":["sh","-c","mkdir -p db && echo \"drop\" > db/2.sql"],"cwd":"/tmp/writ-frozen/postgres/project","type":"COMMAND_EXECUTION"}},"type":"proposal_v1"},"seq":37,"source":"gate","stream":"main"}', '\x1b8312f3153a134b3e6c4d672291ffd1c57d14b0bcdd74ec7f689069efcfaf0f');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 38, '{"fact_id":"01a1e3f2-d295-7dd7-8f8a-221ec8bf8eb5","occurred_at":"2026-11-16T10:41:44.085Z","principal":{"id":"bot","kind":"ai","namespace":"farm"},"record":{"idempotency_key":"result/01a1e3f2-d168-7898-ad59-04f22ffe8675","payload":{"action_id":"01a1e3f2-d168-7898-ad59-04f22ffe8675","compliance":{"effects_declared":true,"rollback_possible":true,"sandbox_as_required":true,"within_resources":true,"within_scope":true},"controls":[{"name":"user_namespace","profile":"single_user"},{"name":"pid_namespace"},{"name":"mount_namespace"},{"name":"ipc_namespace"},{"name":"uts_namespace"},{"name":"network_namespace","profile":"none"},{"name":"no_new_privileges"},{"name":"seccomp","profile":"unix_sockets_inside"},{"detail":"/tmp/writ-frozen/postgres/home /tmp/writ-frozen/postgres/project","name":"overlay","profile":"disk"},{"detail":"12 places","name":"hidden"},{"name":"control_group","profile":"kernel"}],"diff":{"added":[{"class":"staged","kind":"directory","mode":"0755","path":"/tmp/writ-frozen/postgres/project/db","size":0},{"after":"sha256:35e4dbbcbd8d282b765d794239597078fcce7725f457f6eef29fb7847e1635d1","class":"staged","kind":"file","mode":"0644","path":"/tmp/writ-frozen/postgres/project/db/2.sql","size":5}],"bytes":5,"counts":{"added":2,"deleted":0,"modified":0},"deleted":[],"manifest":"sha256:2fdf09fcfa47788e19c43417edba7bc5a4fc8de8c33e5ec6ec8d08b2b749f3fd","modified":[]},"execution":{"ended_at":"2026-11-16T10:41:44.026Z","exit_code":0,"signal":null,"started_at":"2026-11-16T10:41:44.012Z","status":"SUCCESS"},"findings":[],"outputs":{"stderr":"","stdout":"","truncated":false},"proposal_digest":"sha256:6d3e86ef75e991617edf8677002d21464259db1c2a70b3dfb13a743afa1fe8fd","resources":{"cpu_ms":4,"disk_mb":0.1,"duration_ms":14,"enforced_by":{"cpu":"polled","disk":"polled","duration":"polled","memory":"kernel","processes":"kernel"},"memory_peak_mb":1.6,"processes":2},"sandbox_id":"64dbd870-6480-4bbe-85ae-a5c7500de5db","side_effects":{"background_processes":0,"devices":false,"network":[],"privileged":false}},"type":"sandbox_result_v1"},"seq":38,"source":"gate","stream":"main"}', '\x401f0615900d57f347fa25bda8cbe467c5e5c98a742049a8063b4bce8be8e3ec');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 39, '{"fact_id":"01a1e3f2-d295-727f-8df1-9ef8cd6c6967","occurred_at":"2026-11-16T10:41:44.085Z","principal":{"id":"bot","kind":"ai","namespace":"farm"},"record":{"idempotency_key":"evaluation/01a1e3f2-d168-7898-ad59-04f22ffe8675","payload":{"action_id":"01a1e3f2-d168-7898-ad59-04f22ffe8675","action_type":"COMMAND_EXECUTION","actor_kind":"ai","basis":{"actor":"bot","facts_seen":{"host":11,"stream":37},"home":"/tmp/writ-frozen/postgres/home","machine":"vm","overrides":[],"recent_rollbacks":0},"comparison":{"path_directories":["/usr/bin","/usr/sbin"],"scripts_changed":[],"steps":[]},"cooldown_on_repeat":false,"declared_by_approval":false,"door":"exec","evaluator":{"name":"gate","version":"2"},"host":{"ceilings":{"max_cpu_ms":3600000,"max_disk_mb":20480,"max_duration_ms":3600000,"max_memory_mb":8192},"homes":[{"own":false,"path":"/root"},{"own":false,"path":"/home/writ-test"},{"own":true,"path":"/tmp/writ-frozen/postgres/home"}],"max_age_ms":3600000,"max_future_ms":60000,"now_ms":1794825703939,"real_paths":[],"roots":[{"declared":"/tmp/writ-frozen/postgres/project","device":"65024","filesystem":"ext4","inode":"2230741","kind":"directory","mounts":[],"read_only":false,"real":"/tmp/writ-frozen/postgres/project"}],"seen_action_ids":[],"workspace":"/tmp/writ-frozen/postgres/project","writ_places":["/tmp/writ-frozen/postgres/home/.local/state/writ","/tmp/writ-frozen/postgres/project/.writ"]},"intent":"sha256:d0b8cc65a75102c7d75fc748222fbc7bd4ac69e6a5b2369d7f545ec2a80ce664","law_outcomes":[{"action":"confirm","overridden":false,"policy_id":"ASK_MIGRATIONS","reads_result":true,"state":"broken","tier":2}],"laws":"sha256:f3f76afbf7ac4b7e3ae9b8b5fe76c61415f654b08a93f46f9cc442fca313fdab","lists":"sha256:dc19c7fe3914c8f827fc70ec968fcfc2b6a0c5bc5bfc96ebaa27ccd3ba92bf0c","obstacles":[],"operation_digest":"sha256:293bf779396d0c3b05a8d0d06013c4a86c1bfb2ead1c6f9e611781d564aa6db2","preconditions":{"failed":[]},"proposal_digest":"sha256:6d3e86ef75e991617edf8677002d21464259db1c2a70b3dfb13a743afa1fe8fd","result_digest":"sha256:c7c5ca42d0689221f2f05780054c1dd0f372c2c040e6adee137c4a7dbe605644","risk":{"declared":"MEDIUM","effective":"MEDIUM","floor":"MEDIUM"},"standing":{"background_before":false,"cooldown_until_ms":null,"halted":false,"laws_changed":false,"permanent":false,"reconfirm":false},"violations":[]},"type":"evaluation_v1"},"seq":39,"source":"gate","stream":"main"}', '\xaad8789913bc085a8fb111ad869cb022a4eac05726d9ccd11ae7bb875a693c54');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts VALUES (2, 40, '{"fact_id":"01a1e3f2-d295-7c7e-8308-7c5300f95b83","occurred_at":"2026-11-16T10:41:44.085Z","principal":{"id":"bot","kind":"ai","namespace":"farm"},"record":{"idempotency_key":"decision/01a1e3f2-d168-7898-ad59-04f22ffe8675","payload":{"action_id":"01a1e3f2-d168-7898-ad59-04f22ffe8675","code":"confirm.law","codes":["confirm.law","law.ASK_MIGRATIONS"],"decided_at":"2026-11-16T10:41:44.063Z","decision":"CONFIRM","law_refs":["ASK_MIGRATIONS"],"permanent":false,"proposal_digest":"sha256:6d3e86ef75e991617edf8677002d21464259db1c2a70b3dfb13a743afa1fe8fd","result_digest":"sha256:c7c5ca42d0689221f2f05780054c1dd0f372c2c040e6adee137c4a7dbe605644","tier":2},"type":"decision_v1"},"seq":40,"source":"gate","stream":"main"}', '\xb5c8bc2d29f4cc776c923839d1e7eb17d97fe57db9d1e90feaba4d63a12daba2');


--
-- Data for Name: heads; Type: TABLE DATA; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.heads VALUES (2, 41, 10, '501fcfc4-8188-4b0e-b655-9e2c15299595', 'writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4/main
41
r2n3qY4KciQr3fiOM6pD2CmqIIqvL4MOBdv2DP3CaKY=

— writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4/main QOQq3/grDfppMs/H5LdXVXpeeVLdxPdeqMGeItp4LMRg5eakAtq6iMh7wDttS+w34zqCFXU7dwR7dnoFFFlr8lr5Ng4=
');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.heads VALUES (1, 11, 9, '07046e68-80c2-4b01-8a39-080345acb77b', 'writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4/host
11
3anZE2OY4G0G4/uljyWb8Zs14qwFmwVAM188g171C4A=

— writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4/host FkrG2c9kv8nZUfge6OZpf0V17cZHk1iWSOCENsyG2gtRRmGAM+IIdhWxOZHk9Ih++ikPn30env2UWxs/4py6H/YV4gg=
— writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4/host eWmcbAaCpV5NCaV/jEen18bKnl/YSkhTe2Qpa+HOknaTF3KTIxhlLK2qLApkdVBvZ4398HOjC2sWLPYyHXXoBCoRPwE=
');


--
-- Data for Name: keys; Type: TABLE DATA; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'receipt:sha256:bbf007426fc16e20c1c61273bbf9a5f09e844c056ddef1853096b3ed5b875af5', 1);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'proposal/01a1e3f2-c364-7533-a744-22c8542610ba', 3);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'result/01a1e3f2-c364-7533-a744-22c8542610ba', 4);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'evaluation/01a1e3f2-c364-7533-a744-22c8542610ba', 5);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'decision/01a1e3f2-c364-7533-a744-22c8542610ba', 6);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'promotion/01a1e3f2-c364-7533-a744-22c8542610ba', 7);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'rollback/d38e5c02-6ffd-41be-b21d-9bab86d4e5f0', 8);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'proposal/01a1e3f2-c773-790b-a636-ae68fd85f5fc', 9);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'result/01a1e3f2-c773-790b-a636-ae68fd85f5fc', 10);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'evaluation/01a1e3f2-c773-790b-a636-ae68fd85f5fc', 11);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'decision/01a1e3f2-c773-790b-a636-ae68fd85f5fc', 12);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'promotion/01a1e3f2-c773-790b-a636-ae68fd85f5fc', 13);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/0', 15);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/1', 16);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/2', 17);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/3', 18);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'proposal/5c0a4776-315e-4746-8ea0-fb6dca3dc8a3', 19);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'proposal/21ef3419-5674-4c12-bee5-6bf6e0d8585a', 20);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/4', 21);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/5', 22);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'result/5c0a4776-315e-4746-8ea0-fb6dca3dc8a3', 23);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'evaluation/5c0a4776-315e-4746-8ea0-fb6dca3dc8a3', 24);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'decision/5c0a4776-315e-4746-8ea0-fb6dca3dc8a3', 25);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/6', 26);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/7', 27);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/8', 28);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/9', 29);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/10', 30);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/11', 31);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/12', 32);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'proposal/01a1e3f2-cfc0-7351-8ac8-b8d4727fc841', 33);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'result/01a1e3f2-cfc0-7351-8ac8-b8d4727fc841', 34);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'evaluation/01a1e3f2-cfc0-7351-8ac8-b8d4727fc841', 35);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'decision/01a1e3f2-cfc0-7351-8ac8-b8d4727fc841', 36);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'proposal/01a1e3f2-d168-7898-ad59-04f22ffe8675', 37);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'result/01a1e3f2-d168-7898-ad59-04f22ffe8675', 38);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'evaluation/01a1e3f2-d168-7898-ad59-04f22ffe8675', 39);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys VALUES (2, 'decision/01a1e3f2-d168-7898-ad59-04f22ffe8675', 40);


--
-- Data for Name: ledger; Type: TABLE DATA; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.ledger VALUES (1, 'writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4', 1);


--
-- Data for Name: marks; Type: TABLE DATA; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.marks VALUES (1, 11);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.marks VALUES (2, 41);


--
-- Data for Name: streams; Type: TABLE DATA; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.streams VALUES (1, 'host', 'writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4/host');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.streams VALUES (2, 'main', 'writ/7a9e7dac-b520-47e7-a323-c6fefdd047e4/main');


--
-- Data for Name: terms; Type: TABLE DATA; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (1, 0, 'key_rotated_v1', 0);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (1, 4, '["human","farm","ann"]', 0);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (1, 0, 'principal_v1', 1);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (1, 4, '["human","farm","ann"]', 1);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (1, 0, 'principal_v1', 2);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (1, 4, '["human","farm","ann"]', 2);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (1, 0, 'laws_v1', 3);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (1, 4, '["human","farm","ann"]', 3);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (1, 0, 'laws_v1', 4);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (1, 4, '["human","farm","ann"]', 4);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (1, 0, 'principal_v1', 5);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (1, 4, '["human","farm","ann"]', 5);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (1, 0, 'principal_v1', 6);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (1, 4, '["human","farm","ann"]', 6);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (1, 0, 'principal_v1', 7);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (1, 4, '["human","farm","ann"]', 7);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (1, 0, 'principal_v1', 8);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (1, 4, '["human","farm","ann"]', 8);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (1, 0, 'key_rotated_v1', 9);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (1, 4, '["human","farm","ann"]', 9);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'ao_act_task_v0', 0);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 2, 'act-01a1e3f2-be4a-70cc-b444-bd1d5e292308', 0);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 0);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'ao_act_receipt_v0', 1);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 2, 'act-01a1e3f2-be4a-70cc-b444-bd1d5e292308', 1);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["device","farm","pump-3"]', 1);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'receipt:sha256:bbf007426fc16e20c1c61273bbf9a5f09e844c056ddef1853096b3ed5b875af5', 1);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'control_evaluation_v0', 2);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 2);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'proposal_v1', 3);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 1, '01a1e3f2-c364-7533-a744-22c8542610ba', 3);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 3);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'proposal/01a1e3f2-c364-7533-a744-22c8542610ba', 3);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'sandbox_result_v1', 4);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 1, '01a1e3f2-c364-7533-a744-22c8542610ba', 4);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 4);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'result/01a1e3f2-c364-7533-a744-22c8542610ba', 4);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'evaluation_v1', 5);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 1, '01a1e3f2-c364-7533-a744-22c8542610ba', 5);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 5);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'evaluation/01a1e3f2-c364-7533-a744-22c8542610ba', 5);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'decision_v1', 6);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 1, '01a1e3f2-c364-7533-a744-22c8542610ba', 6);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 6);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'decision/01a1e3f2-c364-7533-a744-22c8542610ba', 6);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'promotion_v1', 7);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 1, '01a1e3f2-c364-7533-a744-22c8542610ba', 7);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 7);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'promotion/01a1e3f2-c364-7533-a744-22c8542610ba', 7);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'rollback_v1', 8);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 8);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'rollback/d38e5c02-6ffd-41be-b21d-9bab86d4e5f0', 8);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'proposal_v1', 9);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 1, '01a1e3f2-c773-790b-a636-ae68fd85f5fc', 9);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 9);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'proposal/01a1e3f2-c773-790b-a636-ae68fd85f5fc', 9);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'sandbox_result_v1', 10);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 1, '01a1e3f2-c773-790b-a636-ae68fd85f5fc', 10);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 10);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'result/01a1e3f2-c773-790b-a636-ae68fd85f5fc', 10);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'evaluation_v1', 11);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 1, '01a1e3f2-c773-790b-a636-ae68fd85f5fc', 11);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 11);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'evaluation/01a1e3f2-c773-790b-a636-ae68fd85f5fc', 11);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'decision_v1', 12);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 1, '01a1e3f2-c773-790b-a636-ae68fd85f5fc', 12);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 12);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'decision/01a1e3f2-c773-790b-a636-ae68fd85f5fc', 12);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'promotion_v1', 13);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 1, '01a1e3f2-c773-790b-a636-ae68fd85f5fc', 13);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 13);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'promotion/01a1e3f2-c773-790b-a636-ae68fd85f5fc', 13);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (1, 0, 'key_rotated_v1', 10);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (1, 4, '["human","farm","ann"]', 10);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'key_rotated_v1', 14);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 14);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'flow_started_v1', 15);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 3, 'run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683', 15);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 15);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/0', 15);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'flow_event_v1', 16);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 3, 'run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683', 16);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 16);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/1', 16);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'flow_event_v1', 17);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 3, 'run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683', 17);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 17);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/2', 17);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'flow_event_v1', 18);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 3, 'run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683', 18);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 18);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/3', 18);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'proposal_v1', 19);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 1, '5c0a4776-315e-4746-8ea0-fb6dca3dc8a3', 19);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 19);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'proposal/5c0a4776-315e-4746-8ea0-fb6dca3dc8a3', 19);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'proposal_v1', 20);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 1, '21ef3419-5674-4c12-bee5-6bf6e0d8585a', 20);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 20);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'proposal/21ef3419-5674-4c12-bee5-6bf6e0d8585a', 20);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'flow_event_v1', 21);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 3, 'run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683', 21);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 21);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/4', 21);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'participant_output_v1', 22);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 3, 'run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683', 22);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 22);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/5', 22);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'sandbox_result_v1', 23);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 1, '5c0a4776-315e-4746-8ea0-fb6dca3dc8a3', 23);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 23);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'result/5c0a4776-315e-4746-8ea0-fb6dca3dc8a3', 23);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'evaluation_v1', 24);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 1, '5c0a4776-315e-4746-8ea0-fb6dca3dc8a3', 24);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 24);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'evaluation/5c0a4776-315e-4746-8ea0-fb6dca3dc8a3', 24);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'decision_v1', 25);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 1, '5c0a4776-315e-4746-8ea0-fb6dca3dc8a3', 25);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 25);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'decision/5c0a4776-315e-4746-8ea0-fb6dca3dc8a3', 25);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'flow_event_v1', 26);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 3, 'run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683', 26);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 26);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/6', 26);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'flow_event_v1', 27);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 3, 'run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683', 27);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 27);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/7', 27);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'flow_event_v1', 28);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 3, 'run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683', 28);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 28);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/8', 28);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'flow_event_v1', 29);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 3, 'run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683', 29);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 29);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/9', 29);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'flow_event_v1', 30);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 3, 'run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683', 30);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 30);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/10', 30);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'flow_event_v1', 31);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 3, 'run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683', 31);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 31);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/11', 31);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'flow_event_v1', 32);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 3, 'run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683', 32);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 32);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'flow/run-01a1e3f2-cdb5-7dac-969a-8cca7b1a6683/12', 32);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'proposal_v1', 33);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 1, '01a1e3f2-cfc0-7351-8ac8-b8d4727fc841', 33);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 33);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'proposal/01a1e3f2-cfc0-7351-8ac8-b8d4727fc841', 33);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'sandbox_result_v1', 34);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 1, '01a1e3f2-cfc0-7351-8ac8-b8d4727fc841', 34);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 34);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'result/01a1e3f2-cfc0-7351-8ac8-b8d4727fc841', 34);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'evaluation_v1', 35);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 1, '01a1e3f2-cfc0-7351-8ac8-b8d4727fc841', 35);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 35);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'evaluation/01a1e3f2-cfc0-7351-8ac8-b8d4727fc841', 35);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'decision_v1', 36);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 1, '01a1e3f2-cfc0-7351-8ac8-b8d4727fc841', 36);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["human","farm","ann"]', 36);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'decision/01a1e3f2-cfc0-7351-8ac8-b8d4727fc841', 36);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'proposal_v1', 37);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 1, '01a1e3f2-d168-7898-ad59-04f22ffe8675', 37);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["ai","farm","bot"]', 37);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'proposal/01a1e3f2-d168-7898-ad59-04f22ffe8675', 37);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'sandbox_result_v1', 38);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 1, '01a1e3f2-d168-7898-ad59-04f22ffe8675', 38);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["ai","farm","bot"]', 38);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'result/01a1e3f2-d168-7898-ad59-04f22ffe8675', 38);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'evaluation_v1', 39);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 1, '01a1e3f2-d168-7898-ad59-04f22ffe8675', 39);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["ai","farm","bot"]', 39);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'evaluation/01a1e3f2-d168-7898-ad59-04f22ffe8675', 39);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 0, 'decision_v1', 40);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 1, '01a1e3f2-d168-7898-ad59-04f22ffe8675', 40);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 4, '["ai","farm","bot"]', 40);
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms VALUES (2, 5, 'decision/01a1e3f2-d168-7898-ad59-04f22ffe8675', 40);


--
-- Data for Name: tiles; Type: TABLE DATA; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (1, 0, 0, 0, '\xe9a632a4ce9c4686ddcf996a5822f267b348ba86b0dc2a1e8bb45f0f44972eb0', '\x');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (1, 0, 0, 1, '\x799825d9a59e8857f3510791e3ca7a3b90a48ae0435f238a5da24568f5d57864', '\xc3c770f1f7e69337df4891fde9911e6e8ff2ededd5a183ed58ee000e55afec02');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (1, 0, 0, 2, '\xecda9e0c3e66262643859dc2875990506ebec1ac60d5366f4be02cab440f5ba1', '\x');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (1, 0, 0, 3, '\x8ae257f9303c1f33cc4e541a3fd7ec5ff2ed9c51f7dba1f73e9b7571a7b1f71f', '\x0a2ac345f6e04b4354c32db4b697a8705a351b717130e0db9ba5f23ea4a29966cbfba082020b491669fcdcd995177c35dca68e49dffc1713b1120bd17a769387');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (1, 0, 0, 4, '\xd9988add0fea3b06849cd0f43a706fa0d6b619b66f2cbe2ff8ffeb4d575ded2a', '\x');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (1, 0, 0, 5, '\xcc08718b6e80457d3fca963963decb2c35a65e4645c05813ca245b7cb4e70aa9', '\x5ff667a677d6829499c9fac3b91c2a6b81d808469d0191b3f5ea756156a4f799');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (1, 0, 0, 6, '\xea78a8950432207272c71f9ae7b54019c9433ac7e366fd080cc24b53c9870eb3', '\x');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (1, 0, 0, 7, '\x06a02adff8db7b421ca4c562a3924c6fd80210de66db15097db903fbcaaf0414', '\x6fd1792d3031776eb0726b241e6112114a3609434b71976aca3842df4bcda69031c842be990bd623898db0d3ab196cddf5f6870d2dc725c89c59ce2c4773d4530ec1d5e21a06ef6a11ba5b83f63b91836547a5e85402b255056dcc2cbce747db');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (1, 0, 0, 8, '\x494dcb4162b38a118f0f350d113355eaabe42929ffc9d3021195a5befd30f4c5', '\x');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (1, 0, 0, 9, '\xa08521535d4151f0c5538e458a09c707558da81ade34d499e956613a07f8ec67', '\x8b7feebf3cf1791d1bf54fde3ec378c246bec65eb1f20be7d0ecdd5341f1f2bf');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (2, 0, 0, 0, '\x64981320013952e2b83d5040b0d657ca983741957c33aec1e67cf3ac1bbe46af', '\x');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (2, 0, 0, 1, '\xabad6691a8cd1bb25ce1fbb45f7859edb53dc688ffc64761028fd98fea0d374d', '\xd7a8201eb3c975d6197d8dd833e6c8b557714833e4b53f02bc690a0975c8a66e');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (2, 0, 0, 2, '\x6ef2fe7d522e27f7e7941874b16c303d445deeac0c3f8f00abf7174531db3eeb', '\x');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (2, 0, 0, 3, '\x8f77bda688f9119ed973f365f654ebb288fc2d9bac6a797dc4bf896470b1749a', '\xac0269a16002ac4fb5bd8dca390193166eab487a183a4464ee5b8c3311b76704142ebecdd30c707c734f4e43699018f6b349dc704d4bf54621ff7d4c5be7c400');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (2, 0, 0, 4, '\x06676fd022a5372384ad6716c6d710f7751a884b8c7b7ef29355e7d746315a81a96ae9cf819cb2bcb2afed07c432a02629d640d1e70c8ef8ac6b44ee12dc28446b6d33097bab24c466cd09235270f2256ab8dd2bfd40185a5093035fb1729d6f', '\xf42414d1057c0d823f5a53a4a3b1e34e9ab04473da444517cffbccc37dfbd98f');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (2, 0, 0, 7, '\x1a2098fd96b787ca9aa01650f00fa2ea58c2f07a8a7fce2f15ba84cd26ad3dfb', '\xb1a5166dbc1533c5b492aa00cd55f700fdae83f3ec9cdd57f7131743f723f46528a123c60db75f47f07084e3450bd3b19f087e7025f5a5bf599f825addfade08779a30bf4e7895c442f91d0bd53208237a062ddd78a8ecf03ed7e44a6a14372c');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (2, 0, 0, 8, '\x960a0e2e807eedd03e0a8fcfee9664c0c09969deb3c879be37c08ecd8b9ed226', '\x');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (2, 0, 0, 9, '\x26b5fa9ce5b26905d3cae91f9805f85752b3890d18ced6a641ea17d275a451db', '\x6cdf410f1ae547446e3d3a72f8e38b6552c22e911b7d21ae3ec9e61b95f805cf');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (2, 0, 0, 10, '\xe6e7c95f1305f21b3106341abd5264e2f4e9e2a3a33a5714432f52ade264c6da1dcb42bb99b942031ab987fe6bdf5e1189607a968b13590bb1930caceedeaeb8bda0cffbcb983ed9449f358d249bd3d627474aa77e791f2fdc9f286a209e0120', '\xe48932ce4b804c8fe2b44ed05e94ab65fd7086e6b710a125b3b707184133f590ed418fda555055104754da64052719985c38206a99f8a0969fdfa778b4c6345b');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (2, 0, 0, 13, '\xe30226a46d283135deaf3203b8e5ba5f1fca449283e4d76c3d4c1a9c153afdf8', '\xd7f37316479aceb415ec403d062caa90a89482fc7d74c572bc985747a40d5af2');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (1, 0, 0, 10, '\x27b2cf39790323cb7a4fc11de9e0fa9ee6f2f1a10b4a467331a12772d89b1c06', '\x');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (2, 0, 0, 14, '\xaeac15926a34e0981be3d3f9503ef42179f2a152e886ba029cc63826ec16c2ff', '\x');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (2, 0, 0, 15, '\x09941178520e65d8487c93877de014fc8d8f1a0ebae507bdf531420cbcba02b465443e6292f30174c87ed6e002566d4243e4b315ed9815481cb205652676f9e244ded78d954788ab3da4657242141bbf702aaa08cba59d290944f41f9ed7a23e', '\x7ca6c18acaeac700a58fc1db2aa149912d715bea596efe0f0784f31e49afe87cc0c65a2d71ac40d93069adbb542a0e6670a6f243c4a2e181d833c67a88a74c422f15586b211275d9634b3577b5e2f439679a69af3770faded09ae3a97a7022b027fbefda3563bfc8157e5cc2f2b2baafef3b332622fafe0f1133a2a2974c0c7d61acc25eecddc0f2a008253af15165bb95040f86790a071d85160f7904d9b2c2');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (2, 0, 0, 18, '\x1b68a7aaa22dd63f97aca77d4f5fc06e6660803e5210ff1df149ec4d4cf316d5', '\x');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (2, 0, 0, 19, '\xa3284e4dd010ed022032f9d911afb8831eed49432170d3e3b45439121392e8e0', '\x3652e2b05205247e5dfdac62e1850f185d1838b900ec9bd35969826b3e934ba94afc2a56368eda48f54dfbc32b7373858b8fd060a025c0a97567f2310ca0d69d');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (2, 0, 0, 20, '\xc51e3f543cf500de926d17c1e67d2758963b77d198fadd37ad58473498e32e9e', '\x');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (2, 0, 0, 21, '\xdcfabf7c641cb7080a315242d48023aa4fd22c52b4bb488795fbc715f63e54a4', '\x1ebd592a9b307ad2638c9a54a9778091425443172493f0c77b3ce33500687810');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (2, 0, 0, 22, '\x5095841b702b88f8c68c8fb4c4d67538d8ce4159890cd84cecb74a67b3f2f4b2', '\x');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (2, 0, 0, 23, '\xef0fa4b4f340b3ced7bba6288c998cc5bc73065dae6b7f033820891f7adf291cf30dc779faf59a6bad767fa43f0b463d61114b4f6f015f251179093598d2f3b13954010dbd82beddba81f3e55368a6e25652fd7c79a280419938a0771fdf55bb', '\x9f00aaa9b65c1e9698e8f42a28f623f3a077824774b443e5c5c5853d47f2ed425435a52b0bc15e7e86d6e007da388b47bdbd4d99ed51b3605ce646e72388d00e842d9a96f24519b0788f5939679be3ccc14c42322c15dc8f219f60b39d22dd284a5b7f07daa6639a8d4e838b02eef991e2936a97b2af23ff9f6fa55f455d3e28');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (2, 0, 0, 26, '\x682cdc54e64372b4f1957869c624d1215d4ce68f186e3af56873bc72ae73bdeae61c85e311b0f0b8c05394b2b987f02c2ab44390f099926edc639912f4ded36823d849013770d1e55842f83f6da30c088b9e0de40c37ac9ff5511bfa856cd826fc1a7e771720ac8a5660d0258b720a39a37b237335f79710fd73a5b2f063d5a95c5371470c236045d0ba7b27f208cb51deabb49d3e40a8eeed9b3996db01df8aa0bc971c51ed61c2ca2c7a97f354f7e4c1c96f929944817ca7af5fd6d8b8c66b004b986f6ed08b06fcff57599da7c9a85eea0eb21514077bc979677b18805a8d', '\xd5531d14d5c0553a9fe18b4042d7856b0fa7172264953fce9b8869138686e2053df6160eddfc8d4f7d1fe4f5e7bc73bbe5687277101e6b00c1651c0605444c4d4c633c53c87cc746afe1baba5e17f52eedddd8f9f927f32c0330efce5a0ae6443f6f975057239afbb0199536970936280609a87ae538ce8eb6e234c290f29fe79cc0739661e7ae66cf1ac193968a9e0ad1be689a9716566ea1aac916cc0e628fb7440a15ab3724b74d9f64f0bc8b59d9ecb36f4ee14e515e8d95a6f8595a8320e172cd2b5aa0c099da84e1d1cfcf4925a0bb90262e0dde5d2cc441cc383468ef325273424efdbd7926a58d06df640725292dc891b08fcba607f77cfb3bc4adfd');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (2, 0, 0, 33, '\x9a945136765d5cd8bb516893db5ef99afad1b106aa0db790aa0efe0acabbfe93', '\x39a9697e22ab1f6fdec876a6025ee7e1b540829a61e25af30aeaebf1c276d336');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (2, 0, 0, 34, '\x7ba5589e35b0de48f8f42520f5cc279ec34497f71eeaf53695bbe046dd82fa335630b31136a50bff5d040ea5c49812105f6873ad38759da3d6c977a2db57ad31747d90892f0d6e4d443de2b5cf17204e72889af6492e2b622faf7481abcd0cb1', '\xec500cfbdb0721a20176d520a8ff56e4ded495171a54546869a4412639a81a28a5868185cfdd6368a1511a0f436b3943b084dd99b6caab1bdd19dacb9df4fc8e');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (2, 0, 0, 37, '\x475192a05a8cceaa6de4518659c7218a2074d028bd28f791b067717d5564ec92', '\x0fc167e85cad5a2a1d84c349af714142dcafd13717fe359977d07eb723dae43e');
INSERT INTO writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles VALUES (2, 0, 0, 38, '\x8b422f960afc2a662312cff2d230989b22386345ce2fe8ae1fc5c2e7394d35cb11813c2ef891601f676195da3f1045d61617d57a987c788f0fa2a2657e587a69ab51f504638c762b7c6f72034054c177c4151344bebba56221e9cc27521cdc80', '\xe6dd7bee6375b3267f12fcd67253c230b8c6ac501e654f4339bc8cb92d44f2460477df5e1bef3daee4b1c4752c0f4fbeaad4ca36317b8ce0f0bcff2cdfcf615bbe120c668bf6143041a63cc24f3432eaf491a066dc95a2e200a0d471c81aa144');


--
-- Name: checkpoints checkpoints_pkey; Type: CONSTRAINT; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

ALTER TABLE ONLY writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.checkpoints
    ADD CONSTRAINT checkpoints_pkey PRIMARY KEY (stream, size);


--
-- Name: facts facts_pkey; Type: CONSTRAINT; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

ALTER TABLE ONLY writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts
    ADD CONSTRAINT facts_pkey PRIMARY KEY (stream, seq);


--
-- Name: heads heads_pkey; Type: CONSTRAINT; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

ALTER TABLE ONLY writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.heads
    ADD CONSTRAINT heads_pkey PRIMARY KEY (stream);


--
-- Name: keys keys_pkey; Type: CONSTRAINT; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

ALTER TABLE ONLY writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (stream, key);


--
-- Name: ledger ledger_pkey; Type: CONSTRAINT; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

ALTER TABLE ONLY writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.ledger
    ADD CONSTRAINT ledger_pkey PRIMARY KEY (one);


--
-- Name: marks marks_pkey; Type: CONSTRAINT; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

ALTER TABLE ONLY writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.marks
    ADD CONSTRAINT marks_pkey PRIMARY KEY (stream);


--
-- Name: streams streams_name_key; Type: CONSTRAINT; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

ALTER TABLE ONLY writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.streams
    ADD CONSTRAINT streams_name_key UNIQUE (name);


--
-- Name: streams streams_pkey; Type: CONSTRAINT; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

ALTER TABLE ONLY writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.streams
    ADD CONSTRAINT streams_pkey PRIMARY KEY (stream);


--
-- Name: terms terms_pkey; Type: CONSTRAINT; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

ALTER TABLE ONLY writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms
    ADD CONSTRAINT terms_pkey PRIMARY KEY (stream, field, value, seq);


--
-- Name: tiles tiles_pkey; Type: CONSTRAINT; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

ALTER TABLE ONLY writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles
    ADD CONSTRAINT tiles_pkey PRIMARY KEY (stream, level, tile, start);


--
-- Name: checkpoints checkpoints_behind; Type: TRIGGER; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE TRIGGER checkpoints_behind BEFORE INSERT ON writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.checkpoints FOR EACH ROW EXECUTE FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.checkpoint_behind();

ALTER TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.checkpoints ENABLE ALWAYS TRIGGER checkpoints_behind;


--
-- Name: checkpoints checkpoints_refuse; Type: TRIGGER; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE TRIGGER checkpoints_refuse BEFORE DELETE OR UPDATE OR TRUNCATE ON writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.checkpoints FOR EACH STATEMENT EXECUTE FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.refuse();

ALTER TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.checkpoints ENABLE ALWAYS TRIGGER checkpoints_refuse;


--
-- Name: facts facts_behind; Type: TRIGGER; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE TRIGGER facts_behind AFTER INSERT ON writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts_behind();

ALTER TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts ENABLE ALWAYS TRIGGER facts_behind;


--
-- Name: facts facts_refuse; Type: TRIGGER; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE TRIGGER facts_refuse BEFORE DELETE OR UPDATE OR TRUNCATE ON writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts FOR EACH STATEMENT EXECUTE FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.refuse();

ALTER TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts ENABLE ALWAYS TRIGGER facts_refuse;


--
-- Name: heads heads_forward; Type: TRIGGER; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE TRIGGER heads_forward BEFORE UPDATE ON writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.heads FOR EACH ROW EXECUTE FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.head_forward();

ALTER TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.heads ENABLE ALWAYS TRIGGER heads_forward;


--
-- Name: heads heads_refuse; Type: TRIGGER; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE TRIGGER heads_refuse BEFORE DELETE OR TRUNCATE ON writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.heads FOR EACH STATEMENT EXECUTE FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.refuse();

ALTER TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.heads ENABLE ALWAYS TRIGGER heads_refuse;


--
-- Name: keys keys_refuse; Type: TRIGGER; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE TRIGGER keys_refuse BEFORE DELETE OR UPDATE OR TRUNCATE ON writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys FOR EACH STATEMENT EXECUTE FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.refuse();

ALTER TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys ENABLE ALWAYS TRIGGER keys_refuse;


--
-- Name: ledger ledger_refuse; Type: TRIGGER; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE TRIGGER ledger_refuse BEFORE DELETE OR UPDATE OR TRUNCATE ON writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.ledger FOR EACH STATEMENT EXECUTE FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.refuse();

ALTER TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.ledger ENABLE ALWAYS TRIGGER ledger_refuse;


--
-- Name: streams streams_refuse; Type: TRIGGER; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE TRIGGER streams_refuse BEFORE DELETE OR UPDATE OR TRUNCATE ON writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.streams FOR EACH STATEMENT EXECUTE FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.refuse();

ALTER TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.streams ENABLE ALWAYS TRIGGER streams_refuse;


--
-- Name: tiles tiles_longer; Type: TRIGGER; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE TRIGGER tiles_longer BEFORE INSERT ON writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles FOR EACH ROW EXECUTE FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tile_longer();

ALTER TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles ENABLE ALWAYS TRIGGER tiles_longer;


--
-- Name: tiles tiles_refuse; Type: TRIGGER; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

CREATE TRIGGER tiles_refuse BEFORE DELETE OR UPDATE OR TRUNCATE ON writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles FOR EACH STATEMENT EXECUTE FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.refuse();

ALTER TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles ENABLE ALWAYS TRIGGER tiles_refuse;


--
-- Name: SCHEMA writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Type: ACL; Schema: -; Owner: keeper
--

GRANT USAGE ON SCHEMA writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4 TO writ_appender;


--
-- Name: FUNCTION append(p_name text, p_origin text, p_size bigint, p_epoch bigint, p_holder uuid, p_facts text, p_chains bytea, p_keys text, p_levels integer[], p_tiles bigint[], p_starts integer[], p_hashes bytea[], p_nodes bytea[], p_note text, p_keep boolean); Type: ACL; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

REVOKE ALL ON FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.append(p_name text, p_origin text, p_size bigint, p_epoch bigint, p_holder uuid, p_facts text, p_chains bytea, p_keys text, p_levels integer[], p_tiles bigint[], p_starts integer[], p_hashes bytea[], p_nodes bytea[], p_note text, p_keep boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.append(p_name text, p_origin text, p_size bigint, p_epoch bigint, p_holder uuid, p_facts text, p_chains bytea, p_keys text, p_levels integer[], p_tiles bigint[], p_starts integer[], p_hashes bytea[], p_nodes bytea[], p_note text, p_keep boolean) TO writ_appender;


--
-- Name: FUNCTION checkpoint_behind(); Type: ACL; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

REVOKE ALL ON FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.checkpoint_behind() FROM PUBLIC;


--
-- Name: FUNCTION facts_behind(); Type: ACL; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

REVOKE ALL ON FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts_behind() FROM PUBLIC;


--
-- Name: FUNCTION first_at(p_stream integer, p_size bigint, p_moment text); Type: ACL; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

REVOKE ALL ON FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.first_at(p_stream integer, p_size bigint, p_moment text) FROM PUBLIC;
GRANT ALL ON FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.first_at(p_stream integer, p_size bigint, p_moment text) TO writ_appender;


--
-- Name: FUNCTION follow(p_stream integer, p_from bigint, p_to bigint, p_fields smallint[], p_values text[], p_seqs bigint[]); Type: ACL; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

REVOKE ALL ON FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.follow(p_stream integer, p_from bigint, p_to bigint, p_fields smallint[], p_values text[], p_seqs bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.follow(p_stream integer, p_from bigint, p_to bigint, p_fields smallint[], p_values text[], p_seqs bigint[]) TO writ_appender;


--
-- Name: FUNCTION head_forward(); Type: ACL; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

REVOKE ALL ON FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.head_forward() FROM PUBLIC;


--
-- Name: FUNCTION open_tiles(p_stream integer, p_size bigint, OUT levels integer[], OUT tiles double precision[], OUT hashes bytea[], OUT nodes bytea[]); Type: ACL; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

REVOKE ALL ON FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.open_tiles(p_stream integer, p_size bigint, OUT levels integer[], OUT tiles double precision[], OUT hashes bytea[], OUT nodes bytea[]) FROM PUBLIC;
GRANT ALL ON FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.open_tiles(p_stream integer, p_size bigint, OUT levels integer[], OUT tiles double precision[], OUT hashes bytea[], OUT nodes bytea[]) TO writ_appender;


--
-- Name: FUNCTION refuse(); Type: ACL; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

REVOKE ALL ON FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.refuse() FROM PUBLIC;


--
-- Name: FUNCTION take_turn(p_names text[], p_holder uuid, p_known text[], p_sizes bigint[]); Type: ACL; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

REVOKE ALL ON FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.take_turn(p_names text[], p_holder uuid, p_known text[], p_sizes bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.take_turn(p_names text[], p_holder uuid, p_known text[], p_sizes bigint[]) TO writ_appender;


--
-- Name: FUNCTION tile_longer(); Type: ACL; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

REVOKE ALL ON FUNCTION writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tile_longer() FROM PUBLIC;


--
-- Name: TABLE checkpoints; Type: ACL; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

GRANT SELECT ON TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.checkpoints TO writ_appender;


--
-- Name: TABLE facts; Type: ACL; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

GRANT SELECT ON TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.facts TO writ_appender;


--
-- Name: TABLE heads; Type: ACL; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

GRANT SELECT ON TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.heads TO writ_appender;


--
-- Name: TABLE keys; Type: ACL; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

GRANT SELECT ON TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.keys TO writ_appender;


--
-- Name: TABLE ledger; Type: ACL; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

GRANT SELECT ON TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.ledger TO writ_appender;


--
-- Name: TABLE marks; Type: ACL; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

GRANT SELECT ON TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.marks TO writ_appender;


--
-- Name: TABLE streams; Type: ACL; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

GRANT SELECT ON TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.streams TO writ_appender;


--
-- Name: TABLE terms; Type: ACL; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

GRANT SELECT ON TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.terms TO writ_appender;


--
-- Name: TABLE tiles; Type: ACL; Schema: writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4; Owner: keeper
--

GRANT SELECT ON TABLE writ_7a9e7dac_b520_47e7_a323_c6fefdd047e4.tiles TO writ_appender;


--
-- PostgreSQL database dump complete
--


