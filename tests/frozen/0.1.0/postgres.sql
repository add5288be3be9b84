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
-- Name: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Type: SCHEMA; Schema: -; Owner: keeper
--

CREATE SCHEMA writ_908b9093_885f_46ea_94f3_8ab8400705ce;


ALTER SCHEMA writ_908b9093_885f_46ea_94f3_8ab8400705ce OWNER TO keeper;

--
-- Name: append(text, text, bigint, bigint, uuid, text, bytea, text, integer[], bigint[], integer[], bytea[], bytea[], text, boolean); Type: FUNCTION; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.append(p_name text, p_origin text, p_size bigint, p_epoch bigint, p_holder uuid, p_facts text, p_chains bytea, p_keys text, p_levels integer[], p_tiles bigint[], p_starts integer[], p_hashes bytea[], p_nodes bytea[], p_note text, p_keep boolean) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'writ_908b9093_885f_46ea_94f3_8ab8400705ce', 'pg_temp'
    AS $$#variable_conflict use_column
DECLARE
      id integer;
      head writ_908b9093_885f_46ea_94f3_8ab8400705ce.heads%ROWTYPE;
      added bigint;
    BEGIN
      SELECT stream INTO id FROM writ_908b9093_885f_46ea_94f3_8ab8400705ce.streams WHERE name = p_name;
      IF id IS NULL THEN
        IF p_size <> 0 THEN
          RAISE EXCEPTION 'there is no such stream' USING ERRCODE = 'WR001';
        END IF;
        INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.streams SELECT coalesce(max(stream), 0) + 1, p_name, p_origin FROM writ_908b9093_885f_46ea_94f3_8ab8400705ce.streams
          RETURNING stream INTO id;
      ELSE
        SELECT * INTO head FROM writ_908b9093_885f_46ea_94f3_8ab8400705ce.heads WHERE stream = id FOR UPDATE;
        IF head.size IS DISTINCT FROM p_size OR head.epoch IS DISTINCT FROM p_epoch THEN
          RAISE EXCEPTION 'the head has moved' USING ERRCODE = 'WR001';
        END IF;
      END IF;
      INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts SELECT id, p_size + place - 1, fact,
          substring(p_chains FROM ((place - 1) * 32 + 1)::integer FOR 32)
        FROM string_to_table(p_facts, E'\n') WITH ORDINALITY AS given (fact, place);
      GET DIAGNOSTICS added = ROW_COUNT;
      INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys SELECT id, key, p_size + place - 1
        FROM string_to_table(p_keys, E'\n') WITH ORDINALITY AS given (key, place) WHERE key <> '';
      INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles SELECT id, given.* FROM unnest(p_levels, p_tiles, p_starts, p_hashes, p_nodes)
        AS given;
      IF head.size IS NULL THEN
        INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.heads VALUES (id, added, p_epoch, p_holder, p_note);
      ELSE
        UPDATE writ_908b9093_885f_46ea_94f3_8ab8400705ce.heads SET size = p_size + added, holder = p_holder, note = p_note,
          epoch = CASE WHEN holder = p_holder THEN epoch ELSE epoch + 1 END WHERE stream = id;
      END IF;
      IF p_keep THEN
        INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.checkpoints VALUES (id, p_size + added, p_note);
      END IF;
    END$$;


ALTER FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.append(p_name text, p_origin text, p_size bigint, p_epoch bigint, p_holder uuid, p_facts text, p_chains bytea, p_keys text, p_levels integer[], p_tiles bigint[], p_starts integer[], p_hashes bytea[], p_nodes bytea[], p_note text, p_keep boolean) OWNER TO keeper;

--
-- Name: checkpoint_behind(); Type: FUNCTION; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.checkpoint_behind() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'writ_908b9093_885f_46ea_94f3_8ab8400705ce', 'pg_temp'
    AS $$#variable_conflict use_column
BEGIN
      IF NEW.size <= (SELECT max(size) FROM writ_908b9093_885f_46ea_94f3_8ab8400705ce.checkpoints WHERE stream = NEW.stream) THEN
        RAISE EXCEPTION 'a checkpoint is kept behind the last one of its stream'
          USING ERRCODE = 'WR002';
      END IF;
      RETURN NEW;
    END$$;


ALTER FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.checkpoint_behind() OWNER TO keeper;

--
-- Name: facts_behind(); Type: FUNCTION; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts_behind() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'writ_908b9093_885f_46ea_94f3_8ab8400705ce', 'pg_temp'
    AS $$#variable_conflict use_column
DECLARE
      run record;
    BEGIN
      FOR run IN SELECT stream, min(seq) AS low, max(seq) AS high, count(*) AS facts
        FROM added GROUP BY stream
      LOOP
        IF run.high - run.low + 1 <> run.facts OR run.low < 0
          OR (run.low > 0 AND NOT EXISTS
            (SELECT FROM writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts WHERE stream = run.stream AND seq = run.low - 1))
          OR run.high <> (SELECT max(seq) FROM writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts WHERE stream = run.stream)
        THEN
          RAISE EXCEPTION 'a fact is appended behind the last one of its stream'
            USING ERRCODE = 'WR002';
        END IF;
      END LOOP;
      RETURN NULL;
    END$$;


ALTER FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts_behind() OWNER TO keeper;

--
-- Name: first_at(integer, bigint, text); Type: FUNCTION; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.first_at(p_stream integer, p_size bigint, p_moment text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'writ_908b9093_885f_46ea_94f3_8ab8400705ce', 'pg_temp'
    AS $$#variable_conflict use_column
DECLARE
      low bigint := 0;
      high bigint := p_size;
      middle bigint;
      moment text;
    BEGIN
      WHILE low < high LOOP
        middle := (low + high) / 2;
        SELECT substr(fact, 66, 24) INTO moment FROM writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts WHERE stream = p_stream AND seq = middle;
        IF moment COLLATE "C" < p_moment THEN low := middle + 1; ELSE high := middle; END IF;
      END LOOP;
      RETURN low;
    END$$;


ALTER FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.first_at(p_stream integer, p_size bigint, p_moment text) OWNER TO keeper;

--
-- Name: follow(integer, bigint, bigint, smallint[], text[], bigint[]); Type: FUNCTION; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.follow(p_stream integer, p_from bigint, p_to bigint, p_fields smallint[], p_values text[], p_seqs bigint[]) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'writ_908b9093_885f_46ea_94f3_8ab8400705ce', 'pg_temp'
    AS $$#variable_conflict use_column
BEGIN
      INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.marks VALUES (p_stream, 0) ON CONFLICT DO NOTHING;
      UPDATE writ_908b9093_885f_46ea_94f3_8ab8400705ce.marks SET size = p_to WHERE stream = p_stream AND size = p_from;
      IF NOT FOUND THEN
        RETURN false;
      END IF;
      INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms SELECT p_stream, given.* FROM unnest(p_fields, p_values, p_seqs) AS given
        ON CONFLICT DO NOTHING;
      RETURN true;
    END$$;


ALTER FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.follow(p_stream integer, p_from bigint, p_to bigint, p_fields smallint[], p_values text[], p_seqs bigint[]) OWNER TO keeper;

--
-- Name: head_forward(); Type: FUNCTION; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.head_forward() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'writ_908b9093_885f_46ea_94f3_8ab8400705ce', 'pg_temp'
    AS $$#variable_conflict use_column
BEGIN
      IF NEW.stream <> OLD.stream OR NEW.size <= OLD.size OR NEW.epoch < OLD.epoch THEN
        RAISE EXCEPTION 'a head only moves forward' USING ERRCODE = 'WR002';
      END IF;
      RETURN NEW;
    END$$;


ALTER FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.head_forward() OWNER TO keeper;

--
-- Name: open_tiles(integer, bigint); Type: FUNCTION; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.open_tiles(p_stream integer, p_size bigint, OUT levels integer[], OUT tiles double precision[], OUT hashes bytea[], OUT nodes bytea[]) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'writ_908b9093_885f_46ea_94f3_8ab8400705ce', 'pg_temp'
    AS $$#variable_conflict use_column
BEGIN
      SELECT array_agg(o.level), array_agg(o.tile::float8), array_agg(w.hashes), array_agg(w.nodes)
        INTO levels, tiles, hashes, nodes
        FROM (SELECT l AS level, p_size >> (8 * l) >> 8 AS tile FROM generate_series(0, 6) AS l
            WHERE (p_size >> (8 * l)) % 256 > 0) AS o,
          LATERAL (SELECT string_agg(t.hashes, '' ORDER BY t.start) AS hashes,
              string_agg(t.nodes, '' ORDER BY t.start) AS nodes FROM writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles t
            WHERE t.stream = p_stream AND t.level = o.level AND t.tile = o.tile) AS w
        WHERE w.hashes IS NOT NULL;
    END$$;


ALTER FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.open_tiles(p_stream integer, p_size bigint, OUT levels integer[], OUT tiles double precision[], OUT hashes bytea[], OUT nodes bytea[]) OWNER TO keeper;

--
-- Name: refuse(); Type: FUNCTION; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.refuse() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'writ_908b9093_885f_46ea_94f3_8ab8400705ce', 'pg_temp'
    AS $$#variable_conflict use_column
BEGIN
      RAISE EXCEPTION '% are never changed', TG_TABLE_NAME USING ERRCODE = 'WR002';
    END$$;


ALTER FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.refuse() OWNER TO keeper;

--
-- Name: take_turn(text[], uuid, text[], bigint[]); Type: FUNCTION; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.take_turn(p_names text[], p_holder uuid, p_known text[], p_sizes bigint[]) RETURNS TABLE(name text, stream integer, origin text, size double precision, epoch double precision, holder uuid, note text, last_seq double precision, last_fact text, last_chain bytea, levels integer[], tiles double precision[], hashes bytea[], nodes bytea[])
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'writ_908b9093_885f_46ea_94f3_8ab8400705ce', 'pg_temp'
    AS $$#variable_conflict use_column
DECLARE
      lock bigint;
    BEGIN
      FOR lock IN SELECT DISTINCT hashtextextended('writ_908b9093_885f_46ea_94f3_8ab8400705ce/' || one, 0) FROM unnest(p_names) one ORDER BY 1
      LOOP
        PERFORM pg_advisory_xact_lock(lock);
      END LOOP;
      RETURN QUERY SELECT s.name, s.stream, s.origin, h.size::float8, h.epoch::float8, h.holder, h.note,
          last.seq::float8, last.fact, last.chain, e.levels, e.tiles, e.hashes, e.nodes
        FROM writ_908b9093_885f_46ea_94f3_8ab8400705ce.streams s LEFT JOIN writ_908b9093_885f_46ea_94f3_8ab8400705ce.heads h ON h.stream = s.stream
          LEFT JOIN LATERAL (SELECT true FROM unnest(p_known, p_sizes) AS k (name, size)
            WHERE k.name = s.name AND k.size = h.size AND h.holder = p_holder) AS known (yes) ON true
          LEFT JOIN LATERAL (SELECT f.seq, f.fact, f.chain FROM writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts f WHERE f.stream = s.stream
            ORDER BY f.seq DESC LIMIT 1) AS last ON known.yes IS NULL
          LEFT JOIN LATERAL writ_908b9093_885f_46ea_94f3_8ab8400705ce.open_tiles(s.stream, last.seq + 1) AS e ON last.seq IS NOT NULL
        WHERE s.name = ANY (p_names);
    END$$;


ALTER FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.take_turn(p_names text[], p_holder uuid, p_known text[], p_sizes bigint[]) OWNER TO keeper;

--
-- Name: tile_longer(); Type: FUNCTION; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.tile_longer() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'writ_908b9093_885f_46ea_94f3_8ab8400705ce', 'pg_temp'
    AS $$#variable_conflict use_column
BEGIN
      IF NEW.start <> coalesce((SELECT max(start + length(hashes) / 32) FROM writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles
          WHERE stream = NEW.stream AND level = NEW.level AND tile = NEW.tile), 0)
        OR NEW.start + length(NEW.hashes) / 32 > 256
      THEN
        RAISE EXCEPTION 'a tile only becomes longer' USING ERRCODE = 'WR002';
      END IF;
      RETURN NEW;
    END$$;


ALTER FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.tile_longer() OWNER TO keeper;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: checkpoints; Type: TABLE; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.checkpoints (
    stream integer NOT NULL,
    size bigint NOT NULL,
    note text NOT NULL
);


ALTER TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.checkpoints OWNER TO keeper;

--
-- Name: facts; Type: TABLE; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts (
    stream integer NOT NULL,
    seq bigint NOT NULL,
    fact text NOT NULL,
    chain bytea NOT NULL
);


ALTER TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts OWNER TO keeper;

--
-- Name: heads; Type: TABLE; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.heads (
    stream integer NOT NULL,
    size bigint NOT NULL,
    epoch bigint NOT NULL,
    holder uuid NOT NULL,
    note text NOT NULL
);


ALTER TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.heads OWNER TO keeper;

--
-- Name: keys; Type: TABLE; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys (
    stream integer NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL
);


ALTER TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys OWNER TO keeper;

--
-- Name: ledger; Type: TABLE; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.ledger (
    one integer NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    CONSTRAINT ledger_one_check CHECK ((one = 1))
);


ALTER TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.ledger OWNER TO keeper;

--
-- Name: marks; Type: TABLE; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.marks (
    stream integer NOT NULL,
    size bigint NOT NULL
);


ALTER TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.marks OWNER TO keeper;

--
-- Name: streams; Type: TABLE; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.streams (
    stream integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    origin text NOT NULL
);


ALTER TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.streams OWNER TO keeper;

--
-- Name: terms; Type: TABLE; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms (
    stream integer NOT NULL,
    field smallint NOT NULL,
    value text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL
);


ALTER TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms OWNER TO keeper;

--
-- Name: tiles; Type: TABLE; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles (
    stream integer NOT NULL,
    level integer NOT NULL,
    tile bigint NOT NULL,
    start integer NOT NULL,
    hashes bytea NOT NULL,
    nodes bytea NOT NULL
);
ALTER TABLE ONLY writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles ALTER COLUMN hashes SET STORAGE EXTERNAL;
ALTER TABLE ONLY writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles ALTER COLUMN nodes SET STORAGE EXTERNAL;


ALTER TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles OWNER TO keeper;

--
-- Data for Name: checkpoints; Type: TABLE DATA; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.checkpoints VALUES (1, 11, 'writ/908b9093-885f-46ea-94f3-8ab8400705ce/host
11
2R1lTJ7d/JQPxM2QAapifQiVsEiEzVBEvTjmzLEdLK8=

— writ/908b9093-885f-46ea-94f3-8ab8400705ce/host Lbj7RcXrqt1RLePlr3vwEre2LV2s0IIbAQuml3bS2FQfeAWLn3lVkE1nTTwgtDoA3RQy0m5t8h2WwKkYm13Lnv2T4A0=
— writ/908b9093-885f-46ea-94f3-8ab8400705ce/host 1zbnL7IUyuB7pOrvK/3KiBUAEOil/l4jSKkB56kWNPrT/USG/kk0YOI3n49GEi12KD/yIB+JG47+8pnwVkjg8Uq+Jgs=
');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.checkpoints VALUES (2, 15, 'writ/908b9093-885f-46ea-94f3-8ab8400705ce/main
15
ufuWIJI+ONwylJBXKnu1bG+jyCujk3/ejmdL6aJLuNI=

— writ/908b9093-885f-46ea-94f3-8ab8400705ce/main nldtlj+Gu3Eaew4LdFn69bMqi8mjEYUcOUCurbR1+B6yoR08iXiDXmrSY2s6JKpLRgC7LnX7zQWb073kQ2Zp6AftFQU=
— writ/908b9093-885f-46ea-94f3-8ab8400705ce/main t2hKTpOqb5LjH2Isc6CRB8Bx9YK8eNVWKkdaP5tG/B5uHpLgnKpeHz8oj54ZnCyP124WW6RyyxYzSXQEiuOlRs/wlgE=
');


--
-- Data for Name: facts; Type: TABLE DATA; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (1, 0, '{"fact_id":"01a1e34a-52b1-7568-a782-e6ab457ccf12","occurred_at":"2026-11-16T07:37:41.297Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"last_size":0,"new_key":"writ/908b9093-885f-46ea-94f3-8ab8400705ce/host+2db8fb45+AZCzUT46Bt/SJhbjRQsTZuxs6/X+fnl1wAxEFDwvTg9B","old_key":null,"origin":"writ/908b9093-885f-46ea-94f3-8ab8400705ce/host","stream":"host"},"type":"key_rotated_v1"},"seq":0,"source":"cli","stream":"host"}', '\x313c56f249e3f6b2452d0f68028d95d1969d2c4063b1a4611144ea2b260a1585');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (1, 1, '{"fact_id":"01a1e34a-53c8-759a-a394-e18c025eb9a8","occurred_at":"2026-11-16T07:37:41.576Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"change":"added","credential":"none","principal":{"id":"ann","kind":"human","namespace":"farm"}},"type":"principal_v1"},"seq":1,"source":"cli","stream":"host"}', '\xbbd78f718f54874a5388336921e012627431154901584a35df1a9bcd919e57e4');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (1, 2, '{"fact_id":"01a1e34a-5af0-7666-9ee6-459bf7828bcc","occurred_at":"2026-11-16T07:37:43.408Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"change":"credential_set","credential":"passphrase","credential_key":"M5+c1a8IKy8z9LpEbxXPeOMzKibVOTyZtrLXumzNo2M=","principal":{"id":"ann","kind":"human","namespace":"farm"}},"type":"principal_v1"},"seq":2,"source":"cli","stream":"host"}', '\xde88e3c2a674c70efc042fb958666641d86b0a1b6fe60d6ed12a29a593a906b0');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (1, 3, '{"fact_id":"01a1e34a-5b99-7b30-aec2-464bbecb6de0","occurred_at":"2026-11-16T07:37:43.577Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"accepted_at":"2026-11-16T07:37:43.446Z","body":"sha256:f13cded90efc5dd4ea841859f42f053dcbe9d6390bc630dfc30153babac30e5f","laws":"sha256:f13cded90efc5dd4ea841859f42f053dcbe9d6390bc630dfc30153babac30e5f","lists":"sha256:dc19c7fe3914c8f827fc70ec968fcfc2b6a0c5bc5bfc96ebaa27ccd3ba92bf0c"},"type":"laws_v1"},"seq":3,"source":"gate","stream":"host"}', '\x6d6553686db762ee01e9f53b9769f96fdbce26974e3ba8868679885b6b4b81bc');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (1, 4, '{"fact_id":"01a1e34a-64f9-7dec-926b-ed53390125d3","occurred_at":"2026-11-16T07:37:45.977Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"accepted_at":"2026-11-16T07:37:45.825Z","body":"sha256:f3f76afbf7ac4b7e3ae9b8b5fe76c61415f654b08a93f46f9cc442fca313fdab","laws":"sha256:f3f76afbf7ac4b7e3ae9b8b5fe76c61415f654b08a93f46f9cc442fca313fdab","lists":"sha256:dc19c7fe3914c8f827fc70ec968fcfc2b6a0c5bc5bfc96ebaa27ccd3ba92bf0c"},"type":"laws_v1"},"seq":4,"source":"gate","stream":"host"}', '\xd5150657c1f713b1553b0f6821218c6a4cd91e82d71464186a0c7d12d8c5071b');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (1, 5, '{"fact_id":"01a1e34a-6d60-723c-a807-111a1795dafd","occurred_at":"2026-11-16T07:37:48.128Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"change":"added","principal":{"id":"pump-3","kind":"device","namespace":"farm"},"streams":["main"]},"type":"principal_v1"},"seq":5,"source":"cli","stream":"host"}', '\xf8a848605c2b9f088cd791f7a276d9358fe65cc0295f14c66dd8552e3b9c071a');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (1, 6, '{"fact_id":"01a1e34a-767d-7bac-8109-0c5e23de2ba2","occurred_at":"2026-11-16T07:37:50.461Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"change":"added","principal":{"id":"bot","kind":"ai","namespace":"farm"},"streams":["main"]},"type":"principal_v1"},"seq":6,"source":"cli","stream":"host"}', '\x524d00a996db1d77ad60f86c443d05a863ce7649241a3ae60811806e4cd71231');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (1, 7, '{"fact_id":"01a1e34a-7fc2-7bd5-b449-c4501ef38f80","occurred_at":"2026-11-16T07:37:52.834Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"change":"token_created","expires_at":"2036-11-13T07:37:50.962Z","principal":{"id":"pump-3","kind":"device","namespace":"farm"},"token_digest":"sha256:3296b91e1287490a424298221d060251047784da3acb1e162f812ca2a9ee51fc","token_id":"tok-88888a63fc53"},"type":"principal_v1"},"seq":7,"source":"cli","stream":"host"}', '\x2f23723bbf618df1b5996fb82f5959bde837cdc08cb530454dc54cea2cd6a58e');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (1, 8, '{"fact_id":"01a1e34a-88fb-781a-8be1-0da735cea3ef","occurred_at":"2026-11-16T07:37:55.195Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"change":"token_created","expires_at":"2036-11-13T07:37:53.300Z","principal":{"id":"bot","kind":"ai","namespace":"farm"},"token_digest":"sha256:f4e28e045be38a4e901495755e14fcd323ac733ef8e68980796c576cd5183b23","token_id":"tok-af5ed19676f4"},"type":"principal_v1"},"seq":8,"source":"cli","stream":"host"}', '\xff74f6f3886b8808c06742c58033a37372b7bf7558ef44ec78e4932292cbe69d');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (1, 9, '{"fact_id":"01a1e34a-967e-7dc6-8496-e0057ab2786e","occurred_at":"2026-11-16T07:37:58.654Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"last_size":0,"new_key":"writ/908b9093-885f-46ea-94f3-8ab8400705ce/main+9e576d96+AZCzUT46Bt/SJhbjRQsTZuxs6/X+fnl1wAxEFDwvTg9B","old_key":null,"origin":"writ/908b9093-885f-46ea-94f3-8ab8400705ce/main","stream":"main"},"type":"key_rotated_v1"},"seq":9,"source":"cli","stream":"host"}', '\xc29ca243ad23a5331f0c19c7818d5457c7bc0de27a3c8c34ef503c0e0b751e71');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 0, '{"fact_id":"01a1e34a-967e-7a19-98bf-41a573a3ccf5","occurred_at":"2026-11-16T07:37:58.654Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"act_task_id":"act-01a1e34a-8da3-77ce-ac76-aafaf7fd2ff6","action_type":"IRRIGATE","constraints":{"water_mm":15},"created_at_ts":1794814676387,"issuer":{"id":"ann","kind":"human","namespace":"farm"},"parameter_schema":{"keys":[{"max":40,"min":0,"name":"water_mm","type":"number"}]},"parameters":{"water_mm":12},"target":{"kind":"field","ref":"field:north/7"},"time_window":{"end_ts":1763208000000,"start_ts":1763193600000},"type":"ao_act_task_v0"},"type":"ao_act_task_v0"},"seq":0,"source":"cli","stream":"main"}', '\xc5532b01a35f452d3c7e885749f47e0789954ccd823dca981da996352fba2ca0');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 1, '{"fact_id":"01a1e34a-9b16-70bf-9bd1-1c0b2c01df3a","occurred_at":"2026-11-16T07:37:59.830Z","principal":{"id":"pump-3","kind":"device","namespace":"farm"},"record":{"idempotency_key":"receipt:sha256:4e847a92c3550a4e3c28c8bfeb4a922e492cb5ebbf97289178961d62d61149c7","payload":{"act_task_id":"act-01a1e34a-8da3-77ce-ac76-aafaf7fd2ff6","constraint_check":{"violated":false,"violations":[]},"created_at_ts":1794814679712,"execution_coverage":{"kind":"field","ref":"field:north/7"},"execution_time":{"end_ts":1763197200000,"start_ts":1763193600000},"executor_id":{"id":"pump-3","kind":"device","namespace":"farm"},"logs_refs":[{"kind":"log","ref":"log:1"}],"meta":{"idempotency_key":"run-1"},"observed_parameters":{"water_mm":12},"resource_usage":{"chemical_ml":null,"electric_kwh":1.5,"fuel_l":null,"water_l":120},"status":"executed","type":"ao_act_receipt_v0"},"type":"ao_act_receipt_v0"},"seq":1,"source":"cli","stream":"main"}', '\xe113b3c3145fc13abf4e55bc442753eb350224a36ef91d404b40234f2f04653b');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 7, '{"fact_id":"01a1e34a-a578-7af5-a585-7bae116444ca","occurred_at":"2026-11-16T07:38:02.488Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"promotion/01a1e34a-a1da-78db-be2e-abf1b8ec524e","payload":{"action_id":"01a1e34a-a1da-78db-be2e-abf1b8ec524e","bytes":13,"manifest":"sha256:d8625a22239ef4e7bb124aae55e803beb858e16572dec8d93d693393b0cea70f","paths":1,"promoted_at":"2026-11-16T07:38:02.462Z","proposal_digest":"sha256:3076158f13f074259680d0910a92522504dc69c7be209bacba322a207c1d1cc2","recovered":false,"result_digest":"sha256:b0ac2f9a4c002f37db6575e4ce27baf992909355cbbcb84779c75a4d13ba3d57","snapshot_digest":"sha256:60aa99493c699755902863b28d0bd63b475cca7b04254ced806f5592cd4ca0f8","status":"APPLIED","undo_until":"2026-11-30T07:38:02.462Z","window_ms":1.025},"type":"promotion_v1"},"seq":7,"source":"gate","stream":"main"}', '\xdcfe684ce23d6da7a21587035e2f02ef5b106fc54b98255a64a319282c83000a');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 2, '{"fact_id":"01a1e34a-a00c-7f27-bba5-2d64cd1844e1","occurred_at":"2026-11-16T07:38:01.100Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"at":1794814680737,"evaluator":{"name":"control-kernel","version":"1"},"inputs":{"permission_set":{"candidate_actions":[{"action_code":"AO-APPLY"},{"action_code":"AO-SENSE"}],"created_at_ts":1763190000000,"permission_set_id":"permission-2026-0042","scale":"plot","schema_version":"0.1.0","subjectRef":{"plotId":"7","projectId":"north-farm"},"type":"permission_set_v0","window":{"endTs":1763208000000,"startTs":1763193600000}},"problem_state":{"confidence":"HIGH","created_at_ts":1763190000000,"problem_scope":"spatial_unit","problem_state_id":"state-2026-0042","problem_type":"TIME_COVERAGE_GAPPY","rate_class_hint":"mid","scale":"plot","schema_version":"1.0.0","state_layer_hint":"derived","subjectRef":{"plotId":"7","projectId":"north-farm"},"type":"problem_state_v1","uncertainty_sources":["TIME_GAPS"],"window":{"endTs":1763208000000,"startTs":1763193600000}},"uncertainty_envelope":{"problem_state_ref":"state-2026-0042","schema_version":"0.1.0","type":"uncertainty_envelope_v0","uncertainty_sources":["EVIDENCE_SPARSE"]}},"rulesets":[{"document":{"action_code":"AO-APPLY","combine_strategy":"DENY_OVERRIDES","rules":[{"action_code":"AO-APPLY","guard":"IN(problem_state.problem_type, [\"EVIDENCE_CONFLICT\", \"REFERENCE_CONFLICT\"])","inputs_used":["problem_state.problem_type"],"rule_id":"conflict-denies","rule_owner":"Control Constitution","rule_version":"1.0.0","verdict":"DENY"},{"action_code":"AO-APPLY","guard":"INTERSECTS(uncertainty_envelope.uncertainty_sources[], [\"EVIDENCE_STALE\"])","inputs_used":["uncertainty_envelope.uncertainty_sources[]"],"rule_id":"stale-denies","rule_owner":"Control Constitution","rule_version":"1.0.0","verdict":"DENY"},{"action_code":"AO-APPLY","guard":"EQ(problem_state.confidence, \"HIGH\") AND WINDOW_MATCH()","inputs_used":["problem_state.confidence","problem_state.window.startTs","problem_state.window.endTs","permission_set.window.startTs","permission_set.window.endTs"],"rule_id":"sure-allows","rule_owner":"Control Constitution","rule_version":"1.1.0","verdict":"ALLOW"}],"ruleset_id":"apply","schema_version":"0.1.0","type":"ruleset_v0"},"ref":"sha256:e26768c38c1edaa31bf826c67828234eb987c7f248e48b7b165f5b606973f877"},{"document":{"action_code":"AO-SENSE","combine_strategy":"FIRST_MATCH","rules":[{"action_code":"AO-SENSE","guard":"INTERSECTS(problem_state.uncertainty_sources[], [\"TIME_GAPS\", \"SPARSE_SAMPLING\"])","inputs_used":["problem_state.uncertainty_sources[]"],"rule_id":"gaps-allow","rule_owner":"Control Constitution","rule_version":"1.0.0","verdict":"ALLOW"},{"action_code":"AO-SENSE","guard":"EQ(problem_state.problem_type, \"SENSOR_SUSPECT\")","inputs_used":["problem_state.problem_type"],"rule_id":"suspect-denies","rule_owner":"Control Constitution","rule_version":"1.0.0","verdict":"DENY"}],"ruleset_id":"sense","schema_version":"0.1.0","type":"ruleset_v0"},"ref":"sha256:2ce7a777b2146d55ebe69f65a770edeebe939b9072ae9683d7c5860f5ae9cf45"}],"verdicts":[{"action_code":"AO-APPLY","evaluated_at_ts":1794814680737,"rule_ref":"apply/sure-allows@1.1.0","ruleset_ref":"sha256:e26768c38c1edaa31bf826c67828234eb987c7f248e48b7b165f5b606973f877","ruleset_status":"APPLIED","schema_version":"0.1.0","subjectRef":{"plotId":"7","projectId":"north-farm"},"type":"control_verdict_v0","verdict":"ALLOW","verdict_id":"sha256:4183223af697f2fd2f718d59fe321132830d9613de28f9dade256f4ea3814d3d","window":{"endTs":1763208000000,"startTs":1763193600000}},{"action_code":"AO-SENSE","evaluated_at_ts":1794814680737,"rule_ref":"sense/gaps-allow@1.0.0","ruleset_ref":"sha256:2ce7a777b2146d55ebe69f65a770edeebe939b9072ae9683d7c5860f5ae9cf45","ruleset_status":"APPLIED","schema_version":"0.1.0","subjectRef":{"plotId":"7","projectId":"north-farm"},"type":"control_verdict_v0","verdict":"ALLOW","verdict_id":"sha256:b7a4d98ca6d98b8dd412bbd8e82998720065cb5eff58740e904a88a033dd79bb","window":{"endTs":1763208000000,"startTs":1763193600000}}]},"type":"control_evaluation_v0"},"seq":2,"source":"cli","stream":"main"}', '\x41b2c6fc6125befe95a736429b75fd75ab1b56160b8b698a24c4f5a60f8a093b');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 3, '{"fact_id":"01a1e34a-a3e2-7c43-9c95-bfb2f1e08283","occurred_at":"2026-11-16T07:38:02.082Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"proposal/01a1e34a-a1da-78db-be2e-abf1b8ec524e","original":{"body":"sha256:43bba35fce3b41ad69b0d1f6b72662e2ff9bd97fc3d9cab17c6348eb365a30a5","bytes":1226},"payload":{"descriptor":{"action_id":"01a1e34a-a1da-78db-be2e-abf1b8ec524e","action_type":"COMMAND_EXECUTION","audit":{"log":true,"log_level":"SUMMARY","retain_days":30},"confirmation":{"cooldown_on_repeat":false,"reason":"","required":false},"created_at":"2026-11-16T07:38:01.562Z","created_by":"ai","descriptor_version":"1.0","effects":{"filesystem":{"create":["/tmp/writ-frozen/postgres/project/**"],"delete":[],"modify":["/tmp/writ-frozen/postgres/project/**"]},"network":false,"system_state_change":false},"intent_summary":"Run sh as a command of writ exec.","preconditions":{"network_available":false,"paths_exist":[],"user_idle":false},"resources":{"max_cpu_ms":3600000,"max_disk_mb":4096,"max_duration_ms":3600000,"max_memory_mb":4096},"risk_level":"MEDIUM","rollback":{"rollback_scope":"declared_effects_only","rollback_type":"filesystem_snapshot","supported":true},"sandbox":{"allow_network":false,"max_runs":1,"required":true,"sandbox_type":"container"},"scope":{"filesystem":{"paths":["/tmp/writ-frozen/postgres/project"],"recursive":true},"network":{"required":false},"ui":{"required":false}}},"operation":{"argv":["sh","-c","echo second >> notes.txt"],"cwd":"/tmp/writ-frozen/postgres/project","type":"COMMAND_EXECUTION"}},"type":"proposal_v1"},"seq":3,"source":"gate","stream":"main"}', '\xc3d1254823a7361321b0401e7ea9b4b36d1efc55929aca48bf116686a639ff05');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 4, '{"fact_id":"01a1e34a-a45c-743c-b826-f9ff36da68c1","occurred_at":"2026-11-16T07:38:02.204Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"result/01a1e34a-a1da-78db-be2e-abf1b8ec524e","payload":{"action_id":"01a1e34a-a1da-78db-be2e-abf1b8ec524e","compliance":{"effects_declared":true,"rollback_possible":true,"sandbox_as_required":true,"within_resources":true,"within_scope":true},"controls":[{"name":"user_namespace","profile":"single_user"},{"name":"pid_namespace"},{"name":"mount_namespace"},{"name":"ipc_namespace"},{"name":"uts_namespace"},{"name":"network_namespace","profile":"none"},{"name":"no_new_privileges"},{"name":"seccomp","profile":"unix_sockets_inside"},{"detail":"/tmp/writ-frozen/postgres/home /tmp/writ-frozen/postgres/project","name":"overlay","profile":"disk"},{"detail":"12 places","name":"hidden"},{"name":"control_group","profile":"kernel"}],"diff":{"added":[],"bytes":13,"counts":{"added":0,"deleted":0,"modified":1},"deleted":[],"manifest":"sha256:d8625a22239ef4e7bb124aae55e803beb858e16572dec8d93d693393b0cea70f","modified":[{"after":"sha256:dbea9325179efe46ea2add94f7b6b745ca983fabb208dc6d34aa064623d7ee23","before":"sha256:b640e840b19d378660b32fb51ae18d67dccb4a8596a29e7bd72c1b2ae5928f41","class":"staged","kind":"file","mode":"0644","path":"/tmp/writ-frozen/postgres/project/notes.txt","size":13}]},"execution":{"ended_at":"2026-11-16T07:38:02.139Z","exit_code":0,"signal":null,"started_at":"2026-11-16T07:38:02.107Z","status":"SUCCESS"},"findings":[],"outputs":{"stderr":"","stdout":"","truncated":false},"proposal_digest":"sha256:3076158f13f074259680d0910a92522504dc69c7be209bacba322a207c1d1cc2","resources":{"cpu_ms":2,"disk_mb":0.1,"duration_ms":32,"enforced_by":{"cpu":"polled","disk":"polled","duration":"polled","memory":"kernel","processes":"kernel"},"memory_peak_mb":1.4,"processes":1},"sandbox_id":"1d43cec0-d866-41fc-abf0-f1cca2c8597d","side_effects":{"background_processes":0,"devices":false,"network":[],"privileged":false}},"type":"sandbox_result_v1"},"seq":4,"source":"gate","stream":"main"}', '\xbe67c32782487969029f69472032928bf110cbb4a38e9138ce8b447746147657');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 5, '{"fact_id":"01a1e34a-a45c-75a1-9da0-270a5b3bd25b","occurred_at":"2026-11-16T07:38:02.204Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"evaluation/01a1e34a-a1da-78db-be2e-abf1b8ec524e","payload":{"action_id":"01a1e34a-a1da-78db-be2e-abf1b8ec524e","action_type":"COMMAND_EXECUTION","actor_kind":"human","basis":{"actor":"ann","facts_seen":{"host":10,"stream":3},"home":"/tmp/writ-frozen/postgres/home","machine":"vm","overrides":[],"recent_rollbacks":0},"comparison":{"path_directories":["/root/.cargo/bin","/root/.pyenv/plugins/pyenv-virtualenv/shims","/root/.pyenv/shims","/root/.pyenv/bin","/usr/local/sbin","/usr/local/bin","/usr/sbin","/usr/bin"],"scripts_changed":[],"steps":[]},"cooldown_on_repeat":false,"declared_by_approval":false,"door":"exec","evaluator":{"name":"gate","version":"2"},"host":{"ceilings":{"max_cpu_ms":3600000,"max_disk_mb":20480,"max_duration_ms":3600000,"max_memory_mb":8192},"homes":[{"own":false,"path":"/root"},{"own":false,"path":"/home/cloudsdk"},{"own":false,"path":"/home/reach-u"},{"own":false,"path":"/home/rename-u"},{"own":false,"path":"/home/laws-u"},{"own":false,"path":"/home/promo-u"},{"own":false,"path":"/home/writ-test"},{"own":true,"path":"/tmp/writ-frozen/postgres/home"}],"max_age_ms":3600000,"max_future_ms":60000,"now_ms":1794814682004,"real_paths":[],"roots":[{"declared":"/tmp/writ-frozen/postgres/project","device":"65024","filesystem":"ext4","inode":"2217733","kind":"directory","mounts":[],"read_only":false,"real":"/tmp/writ-frozen/postgres/project"}],"seen_action_ids":[],"workspace":"/tmp/writ-frozen/postgres/project","writ_places":["/tmp/writ-frozen/postgres/home/.local/state/writ","/tmp/writ-frozen/postgres/project/.writ"]},"intent":"sha256:49972dcd767ec0cedc87bff5f41f3037bae7c4f8bb26a1f2129cb06d0056423a","law_outcomes":[],"laws":"sha256:f3f76afbf7ac4b7e3ae9b8b5fe76c61415f654b08a93f46f9cc442fca313fdab","lists":"sha256:dc19c7fe3914c8f827fc70ec968fcfc2b6a0c5bc5bfc96ebaa27ccd3ba92bf0c","obstacles":[],"operation_digest":"sha256:0f15f15fb3d29fbf0ef028b62b5ac6b3e8da14f3021e9b9cb4dd8058c92e0785","preconditions":{"failed":[]},"proposal_digest":"sha256:3076158f13f074259680d0910a92522504dc69c7be209bacba322a207c1d1cc2","result_digest":"sha256:b0ac2f9a4c002f37db6575e4ce27baf992909355cbbcb84779c75a4d13ba3d57","risk":{"declared":"MEDIUM","effective":"MEDIUM","floor":"MEDIUM"},"standing":{"background_before":false,"cooldown_until_ms":null,"halted":false,"laws_changed":false,"permanent":false,"reconfirm":false},"violations":[]},"type":"evaluation_v1"},"seq":5,"source":"gate","stream":"main"}', '\xa040522af5fa3e8cc4381df8a8f296f28842b86c136a659d311965828d008e86');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 6, '{"fact_id":"01a1e34a-a45c-7ecb-a469-aa483c7bf986","occurred_at":"2026-11-16T07:38:02.204Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"decision/01a1e34a-a1da-78db-be2e-abf1b8ec524e","payload":{"action_id":"01a1e34a-a1da-78db-be2e-abf1b8ec524e","code":"promote.ok","codes":["promote.ok"],"decided_at":"2026-11-16T07:38:02.176Z","decision":"PROMOTE","law_refs":[],"permanent":false,"proposal_digest":"sha256:3076158f13f074259680d0910a92522504dc69c7be209bacba322a207c1d1cc2","result_digest":"sha256:b0ac2f9a4c002f37db6575e4ce27baf992909355cbbcb84779c75a4d13ba3d57"},"type":"decision_v1"},"seq":6,"source":"gate","stream":"main"}', '\xff21465fb0ccfc72baf20e221e24ef66ee2e1aa0e8a3ba1eb2a85e831a202793');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 8, '{"fact_id":"01a1e34a-ad96-7ea2-9716-22189f6dc698","occurred_at":"2026-11-16T07:38:04.566Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"rollback/0990ff1e-1e23-44ce-893c-c7490297abce","payload":{"action_ids":["01a1e34a-a1da-78db-be2e-abf1b8ec524e"],"recovered":false,"restored":1,"rollback_id":"0990ff1e-1e23-44ce-893c-c7490297abce","rolled_back_at":"2026-11-16T07:38:04.442Z","verified":true},"type":"rollback_v1"},"seq":8,"source":"gate","stream":"main"}', '\x7e38f9763ddcf05d807af1a0941ae853859f1971f3aedc35c32151346f785edc');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 9, '{"fact_id":"01a1e34a-b1f8-784f-a9a2-1349a027894e","occurred_at":"2026-11-16T07:38:05.688Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"proposal/01a1e34a-b046-7189-89f8-42c770b71e4b","original":{"body":"sha256:5f089ce85b6ae20001d4a19eafd07558b393ccc1fb4068180c8e282456ef050b","bytes":1360},"payload":{"descriptor":{"action_id":"01a1e34a-b046-7189-89f8-42c770b71e4b","action_type":"COMMAND_EXECUTION","audit":{"log":true,"log_level":"SUMMARY","retain_days":30},"confirmation":{"cooldown_on_repeat":false,"reason":"","required":false},"created_at":"2026-11-16T07:38:05.254Z","created_by":"ai","descriptor_version":"1.0","effects":{"filesystem":{"create":["/tmp/writ-frozen/postgres/project/**"],"delete":["/tmp/writ-frozen/postgres/project/**"],"modify":["/tmp/writ-frozen/postgres/project/**"]},"network":false,"system_state_change":false},"intent_summary":"Run sh as a command of writ exec.","preconditions":{"network_available":false,"paths_exist":[],"user_idle":false},"resources":{"max_cpu_ms":3600000,"max_disk_mb":4096,"max_duration_ms":3600000,"max_memory_mb":4096},"risk_level":"MEDIUM","rollback":{"rollback_scope":"declared_effects_only","rollback_type":"filesystem_snapshot","supported":true},"sandbox":{"allow_network":false,"max_runs":1,"required":true,"sandbox_type":"container"},"scope":{"filesystem":{"paths":["/tmp/writ-frozen/postgres/project"],"recursive":true},"network":{"required":false},"ui":{"required":false}}},"operation":{"argv":["sh","-c","echo third > notes.txt; rm old/gone.txt; mkdir -p new; echo n > new/n.txt; ln -s n.txt new/link; chmod 600 docs/guide.md"],"cwd":"/tmp/writ-frozen/postgres/project","type":"COMMAND_EXECUTION"}},"type":"proposal_v1"},"seq":9,"source":"gate","stream":"main"}', '\x3e0620ea10315e155b8304f1be51dce6fa8c4d3cd940ab6532bc406c70884016');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 10, '{"fact_id":"01a1e34a-b37c-7e4b-8272-f32c40a75cf7","occurred_at":"2026-11-16T07:38:06.076Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"result/01a1e34a-b046-7189-89f8-42c770b71e4b","payload":{"action_id":"01a1e34a-b046-7189-89f8-42c770b71e4b","compliance":{"effects_declared":true,"rollback_possible":true,"sandbox_as_required":true,"within_resources":true,"within_scope":true},"controls":[{"name":"user_namespace","profile":"single_user"},{"name":"pid_namespace"},{"name":"mount_namespace"},{"name":"ipc_namespace"},{"name":"uts_namespace"},{"name":"network_namespace","profile":"none"},{"name":"no_new_privileges"},{"name":"seccomp","profile":"unix_sockets_inside"},{"detail":"/tmp/writ-frozen/postgres/home /tmp/writ-frozen/postgres/project","name":"overlay","profile":"disk"},{"detail":"12 places","name":"hidden"},{"name":"control_group","profile":"kernel"}],"diff":{"added":[{"class":"staged","kind":"directory","mode":"0755","path":"/tmp/writ-frozen/postgres/project/new","size":0},{"class":"staged","kind":"symlink","mode":"0777","path":"/tmp/writ-frozen/postgres/project/new/link","size":0,"target":"n.txt"},{"after":"sha256:a4fb621495a0122493b2203591c448903c472e306a1ede54fabad829e01075c0","class":"staged","kind":"file","mode":"0644","path":"/tmp/writ-frozen/postgres/project/new/n.txt","size":2}],"bytes":16,"counts":{"added":3,"deleted":1,"modified":2},"deleted":[{"before":"sha256:361e43b2807ccd19fee0e8a048e8a5eba22d718a12819a2e98e5e7901c72f433","class":"staged","kind":"file","mode":"0644","path":"/tmp/writ-frozen/postgres/project/old/gone.txt","size":14}],"manifest":"sha256:0c767d73256d0fe92d522ea0ba2d01bb2dae25dc635a5c8e5458904d3aeee9b3","modified":[{"after":"sha256:bc553ffe57e544498b12a9865dbf3abc2004c474e349c52c378eaa402287424b","before":"sha256:bc553ffe57e544498b12a9865dbf3abc2004c474e349c52c378eaa402287424b","class":"staged","kind":"file","mode":"0600","path":"/tmp/writ-frozen/postgres/project/docs/guide.md","size":8},{"after":"sha256:5eef8098ed6ec0a16249fc7c12422027fc9fd75b16130cc9382cf09102014796","before":"sha256:b640e840b19d378660b32fb51ae18d67dccb4a8596a29e7bd72c1b2ae5928f41","class":"staged","kind":"file","mode":"0644","path":"/tmp/writ-frozen/postgres/project/notes.txt","size":6}]},"execution":{"ended_at":"2026-11-16T07:38:05.822Z","exit_code":0,"signal":null,"started_at":"2026-11-16T07:38:05.716Z","status":"SUCCESS"},"findings":[],"outputs":{"stderr":"","stdout":"","truncated":false},"proposal_digest":"sha256:f48b184c59da1707427a6772e0d3a3de2273e309930014c3ed197ac1e0807c9e","resources":{"cpu_ms":7,"disk_mb":0.1,"duration_ms":106,"enforced_by":{"cpu":"polled","disk":"polled","duration":"polled","memory":"kernel","processes":"kernel"},"memory_peak_mb":1.9,"processes":2},"sandbox_id":"081712e5-4d2a-4adb-b0b5-a4bba8104e68","side_effects":{"background_processes":0,"devices":false,"network":[],"privileged":false}},"type":"sandbox_result_v1"},"seq":10,"source":"gate","stream":"main"}', '\xb8bc7adaf2058f2b8db6376d6ba90e607dab7f0700a474f28d0b96dcab5fe048');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 11, '{"fact_id":"01a1e34a-b37c-7695-8514-313b1644357b","occurred_at":"2026-11-16T07:38:06.076Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"evaluation/01a1e34a-b046-7189-89f8-42c770b71e4b","payload":{"action_id":"01a1e34a-b046-7189-89f8-42c770b71e4b","action_type":"COMMAND_EXECUTION","actor_kind":"human","basis":{"actor":"ann","facts_seen":{"host":10,"stream":9},"home":"/tmp/writ-frozen/postgres/home","machine":"vm","overrides":[],"recent_rollbacks":1},"comparison":{"path_directories":["/root/.cargo/bin","/root/.pyenv/plugins/pyenv-virtualenv/shims","/root/.pyenv/shims","/root/.pyenv/bin","/usr/local/sbin","/usr/local/bin","/usr/sbin","/usr/bin"],"scripts_changed":[],"steps":[]},"cooldown_on_repeat":false,"declared_by_approval":false,"door":"exec","evaluator":{"name":"gate","version":"2"},"host":{"ceilings":{"max_cpu_ms":3600000,"max_disk_mb":20480,"max_duration_ms":3600000,"max_memory_mb":8192},"homes":[{"own":false,"path":"/root"},{"own":false,"path":"/home/cloudsdk"},{"own":false,"path":"/home/reach-u"},{"own":false,"path":"/home/rename-u"},{"own":false,"path":"/home/laws-u"},{"own":false,"path":"/home/promo-u"},{"own":false,"path":"/home/writ-test"},{"own":true,"path":"/tmp/writ-frozen/postgres/home"}],"max_age_ms":3600000,"max_future_ms":60000,"now_ms":1794814685577,"real_paths":[],"roots":[{"declared":"/tmp/writ-frozen/postgres/project","device":"65024","filesystem":"ext4","inode":"2217733","kind":"directory","mounts":[],"read_only":false,"real":"/tmp/writ-frozen/postgres/project"}],"seen_action_ids":[],"workspace":"/tmp/writ-frozen/postgres/project","writ_places":["/tmp/writ-frozen/postgres/home/.local/state/writ","/tmp/writ-frozen/postgres/project/.writ"]},"intent":"sha256:00fb1bff60620f20dc0803b0d9dc92ad6988b92299057254fbd9365a56a6efcd","law_outcomes":[],"laws":"sha256:f3f76afbf7ac4b7e3ae9b8b5fe76c61415f654b08a93f46f9cc442fca313fdab","lists":"sha256:dc19c7fe3914c8f827fc70ec968fcfc2b6a0c5bc5bfc96ebaa27ccd3ba92bf0c","obstacles":[],"operation_digest":"sha256:404241cc199f445e4a73f6d775092cd945efef06838c8e2319780573819edf25","preconditions":{"failed":[]},"proposal_digest":"sha256:f48b184c59da1707427a6772e0d3a3de2273e309930014c3ed197ac1e0807c9e","result_digest":"sha256:84740e93d8a4501c4086671976d23945688e023dbd7c7033800e6f82f5782cc8","risk":{"declared":"MEDIUM","effective":"MEDIUM","floor":"MEDIUM"},"standing":{"background_before":false,"cooldown_until_ms":null,"halted":false,"laws_changed":false,"permanent":false,"reconfirm":false},"violations":[]},"type":"evaluation_v1"},"seq":11,"source":"gate","stream":"main"}', '\xfdfc7e58800fed31a2b42695372f829d640adee9b8c1ebfa2c83517dabf12baa');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 12, '{"fact_id":"01a1e34a-b37c-7f57-b33c-8958eaa71d82","occurred_at":"2026-11-16T07:38:06.076Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"decision/01a1e34a-b046-7189-89f8-42c770b71e4b","payload":{"action_id":"01a1e34a-b046-7189-89f8-42c770b71e4b","code":"promote.ok","codes":["promote.ok"],"decided_at":"2026-11-16T07:38:05.919Z","decision":"PROMOTE","law_refs":[],"permanent":false,"proposal_digest":"sha256:f48b184c59da1707427a6772e0d3a3de2273e309930014c3ed197ac1e0807c9e","result_digest":"sha256:84740e93d8a4501c4086671976d23945688e023dbd7c7033800e6f82f5782cc8"},"type":"decision_v1"},"seq":12,"source":"gate","stream":"main"}', '\xe136fd18600612728ea8c5cc1430d6ebb1c6fdf46a02fdcb6ed79892e6d38569');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 13, '{"fact_id":"01a1e34a-b3eb-7b0c-b61e-890a0148540e","occurred_at":"2026-11-16T07:38:06.187Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"promotion/01a1e34a-b046-7189-89f8-42c770b71e4b","payload":{"action_id":"01a1e34a-b046-7189-89f8-42c770b71e4b","bytes":16,"manifest":"sha256:0c767d73256d0fe92d522ea0ba2d01bb2dae25dc635a5c8e5458904d3aeee9b3","paths":6,"promoted_at":"2026-11-16T07:38:06.183Z","proposal_digest":"sha256:f48b184c59da1707427a6772e0d3a3de2273e309930014c3ed197ac1e0807c9e","recovered":false,"result_digest":"sha256:84740e93d8a4501c4086671976d23945688e023dbd7c7033800e6f82f5782cc8","snapshot_digest":"sha256:18709ba8cfbe810ea7f05108e9ee705e73ddc07ce2918da3cf547a64a7a1b6fa","status":"APPLIED","undo_until":"2026-11-30T07:38:06.183Z","window_ms":3.319},"type":"promotion_v1"},"seq":13,"source":"gate","stream":"main"}', '\x5faf368b53128a4d6ff077a799c0bcf8018b2752b479971053166f054bc3625e');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (1, 10, '{"fact_id":"01a1e34a-bfed-7743-8072-c22ac107318c","occurred_at":"2026-11-16T07:38:09.261Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"last_size":11,"new_key":"writ/908b9093-885f-46ea-94f3-8ab8400705ce/host+d736e72f+AaaiBPT0rx0+6NgfJ4wgtAkNQIXPYHS141a95BexemNR","old_key":"writ/908b9093-885f-46ea-94f3-8ab8400705ce/host+2db8fb45+AZCzUT46Bt/SJhbjRQsTZuxs6/X+fnl1wAxEFDwvTg9B","origin":"writ/908b9093-885f-46ea-94f3-8ab8400705ce/host","stream":"host"},"type":"key_rotated_v1"},"seq":10,"source":"cli","stream":"host"}', '\x81216d1471b7ba7bc0095950be6af631b5be9b05711ae196b021b64f66d7ffa6');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 14, '{"fact_id":"01a1e34a-bfed-7cc0-9191-a2dbf793b1ce","occurred_at":"2026-11-16T07:38:09.261Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"payload":{"last_size":15,"new_key":"writ/908b9093-885f-46ea-94f3-8ab8400705ce/main+b7684a4e+AaaiBPT0rx0+6NgfJ4wgtAkNQIXPYHS141a95BexemNR","old_key":"writ/908b9093-885f-46ea-94f3-8ab8400705ce/main+9e576d96+AZCzUT46Bt/SJhbjRQsTZuxs6/X+fnl1wAxEFDwvTg9B","origin":"writ/908b9093-885f-46ea-94f3-8ab8400705ce/main","stream":"main"},"type":"key_rotated_v1"},"seq":14,"source":"cli","stream":"main"}', '\xc948a8c52baae340b0a0655b07ac17d11672a73a88a9dd19767a04c29991b9c1');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 15, '{"fact_id":"01a1e34a-c504-7f60-ab19-5ee433dad122","occurred_at":"2026-11-16T07:38:10.564Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/0","payload":{"at":"2026-11-16T07:38:10.528Z","flow_digest":"sha256:5ac06dd5c5236575b15eaf2d15d40f147deb6608199d038d952812bceebd02e7","flow_id":"frozen","nonce":"7ce51652029fd7a32f951d1344d50922","origin":{"evaluator":{"name":"flow","version":"1"},"participants_digest":null,"workspace":"/tmp/writ-frozen/postgres/project"},"run_id":"run-01a1e34a-c48d-772b-aa28-95419566ddda","seq":0},"type":"flow_started_v1"},"seq":15,"source":"flow","stream":"main"}', '\x12434006086fa6fcbce4d522ede77e49422e4a3a684458b5eb5021aad77b43ae');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 16, '{"fact_id":"01a1e34a-c504-724c-a94f-16c037cec7fe","occurred_at":"2026-11-16T07:38:10.564Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/1","payload":{"at":"2026-11-16T07:38:10.528Z","cause":"start","is_fresh":true,"kind":"entered","node_id":"a","round":1,"run_id":"run-01a1e34a-c48d-772b-aa28-95419566ddda","seq":1},"type":"flow_event_v1"},"seq":16,"source":"flow","stream":"main"}', '\x5f7acc1da41731ac902b8cb7919c8eff99c57407d58605adfcf0fa5d8e38463b');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 17, '{"fact_id":"01a1e34a-c504-7d9f-bad2-e5e3e7cb8060","occurred_at":"2026-11-16T07:38:10.564Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/2","payload":{"at":"2026-11-16T07:38:10.528Z","command":{"access":[],"attempt":1,"command":2,"delay_seconds":0,"input":{"last_error":null,"last_review":null,"previous_output_path":null},"node_id":"a","participant":{"command":["node","worker.mjs"]},"review":null,"stands_on":[],"type":"run_participant"},"kind":"commanded","run_id":"run-01a1e34a-c48d-772b-aa28-95419566ddda","seq":2},"type":"flow_event_v1"},"seq":17,"source":"flow","stream":"main"}', '\x29230e2564b91526f237c1380ed4e68962908ee331d2e9af00eeea615ded57ff');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 18, '{"fact_id":"01a1e34a-c599-7c0d-85aa-9660f91bef96","occurred_at":"2026-11-16T07:38:10.713Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/3","payload":{"at":"2026-11-16T07:38:10.702Z","event":{"at":"2026-11-16T07:38:10.702Z","command":2,"node_id":"a","nonce":"b4f6de74c797899ffc5fda20af88459f","type":"attempt_started"},"kind":"event","run_id":"run-01a1e34a-c48d-772b-aa28-95419566ddda","seq":3},"type":"flow_event_v1"},"seq":18,"source":"flow","stream":"main"}', '\xe86e1d130452ed4107e41ed744bb288f22ae9d35700ef9a0a5121dfe93143dc1');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 19, '{"fact_id":"01a1e34a-c6bb-7f95-92b6-e04fd9178009","occurred_at":"2026-11-16T07:38:11.003Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"proposal/1e0fbd0d-de9a-43c4-b4d6-6f58cd466b11","original":{"body":"sha256:3a8d50dae38ea5de08ec0a0d17d3cd25352a90436e5ec170fc77cac868c3f4d2","bytes":1631},"payload":{"descriptor":{"action_id":"1e0fbd0d-de9a-43c4-b4d6-6f58cd466b11","action_type":"COMMAND_EXECUTION","audit":{"log":true,"log_level":"DETAILED","retain_days":30},"confirmation":{"cooldown_on_repeat":false,"reason":"","required":false},"created_at":"2026-11-16T07:38:10.865Z","created_by":"ai","descriptor_version":"1.0","effects":{"filesystem":{"create":["/tmp/writ-frozen/postgres/project/**","/tmp/writ-frozen/postgres/project/artifacts/a/1/**"],"delete":["/tmp/writ-frozen/postgres/project/**","/tmp/writ-frozen/postgres/project/artifacts/a/1/**"],"modify":["/tmp/writ-frozen/postgres/project/**","/tmp/writ-frozen/postgres/project/artifacts/a/1/**"]},"network":false,"system_state_change":false},"intent_summary":"Work at the node a of a flow, attempt 1: .","preconditions":{"network_available":false,"paths_exist":[],"user_idle":false},"resources":{"max_cpu_ms":3600000,"max_disk_mb":2048,"max_duration_ms":3600000,"max_memory_mb":4096},"risk_level":"MEDIUM","rollback":{"rollback_scope":"declared_effects_only","rollback_type":"filesystem_snapshot","supported":true},"sandbox":{"allow_network":false,"max_runs":1,"required":true,"sandbox_type":"container"},"scope":{"filesystem":{"paths":["/tmp/writ-frozen/postgres/project"],"recursive":true},"network":{"required":false},"ui":{"required":false}}},"operation":{"argv":["node","worker.mjs"],"cwd":"/tmp/writ-frozen/postgres/project","stdin":"redacted","type":"COMMAND_EXECUTION"}},"type":"proposal_v1"},"seq":19,"source":"gate","stream":"main"}', '\xd9707aa2cce37705b89ae1c8c5e78cf64a5ec5dff29b6f6648766c8bc3da3383');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 20, '{"fact_id":"01a1e34a-c7d9-711d-b8b3-a2ee4e3f3e6e","occurred_at":"2026-11-16T07:38:11.289Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"proposal/65bdb58f-c052-4d2e-949f-256d4c0487fb","original":{"body":"sha256:7d690bebbbae2f6d3bcac1dd64f7ff500b47eb6c9315894433084f58feabd0f1","bytes":1403},"payload":{"descriptor":{"action_id":"65bdb58f-c052-4d2e-949f-256d4c0487fb","action_type":"COMMAND_EXECUTION","audit":{"log":true,"log_level":"DETAILED","retain_days":30},"confirmation":{"cooldown_on_repeat":false,"reason":"","required":false},"created_at":"2026-11-16T07:38:11.192Z","created_by":"ai","descriptor_version":"1.0","effects":{"filesystem":{"create":["/tmp/writ-frozen/postgres/project/**","/tmp/writ-frozen/postgres/project/artifacts/a/1/**"],"delete":["/tmp/writ-frozen/postgres/project/**","/tmp/writ-frozen/postgres/project/artifacts/a/1/**"],"modify":["/tmp/writ-frozen/postgres/project/**","/tmp/writ-frozen/postgres/project/artifacts/a/1/**"]},"network":false,"system_state_change":false},"intent_summary":"Work at the node a of a flow, attempt 1: .","preconditions":{"network_available":false,"paths_exist":[],"user_idle":false},"resources":{"max_cpu_ms":3600000,"max_disk_mb":2048,"max_duration_ms":3600000,"max_memory_mb":4096},"risk_level":"MEDIUM","rollback":{"rollback_scope":"declared_effects_only","rollback_type":"filesystem_snapshot","supported":true},"sandbox":{"allow_network":false,"max_runs":1,"required":true,"sandbox_type":"container"},"scope":{"filesystem":{"paths":["/tmp/writ-frozen/postgres/project"],"recursive":true},"network":{"required":false},"ui":{"required":false}}},"operation":{"argv":["true"],"cwd":"/tmp/writ-frozen/postgres/project","type":"COMMAND_EXECUTION"}},"type":"proposal_v1"},"seq":20,"source":"gate","stream":"main"}', '\x5df21f7f9bd000bfd4410ab57dd6df025b10dec728aa9d877f6809fd7a82e66f');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 21, '{"fact_id":"01a1e34a-c7f8-79d8-b439-3b3d988de89d","occurred_at":"2026-11-16T07:38:11.320Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/4","payload":{"at":"2026-11-16T07:38:11.298Z","event":{"at":"2026-11-16T07:38:11.298Z","command":2,"decision":"PROMOTE","node_id":"a","nonce":"653698c25a40c6a3785da3635e22b998","type":"gate_decision"},"kind":"event","run_id":"run-01a1e34a-c48d-772b-aa28-95419566ddda","seq":4},"type":"flow_event_v1"},"seq":21,"source":"flow","stream":"main"}', '\x5350075c85f79adb9524255cc381dce3ba493f2a0540946f323f8a1aed6486c5');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 22, '{"fact_id":"01a1e34a-c86a-77af-b3cf-abee112888c4","occurred_at":"2026-11-16T07:38:11.434Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/5","payload":{"answer":{"document":{"artifact":{"content":"body:sha256:e91d41cf6d0756ac3c7fb5b4a5b847b42e8d24754dea5c474767266db4bee6e3:9","format":"md","name":"out"},"result_type":"ARTIFACT","schema_version":"xiaobo_action_v1","task_id":"a"},"kind":"action"},"at":"2026-11-16T07:38:11.375Z","command":2,"errors":[],"node_id":"a","nonce":"4215c5db5e7f370616e64092fc518005","raw":"body:sha256:0c1994ddb6f77d71273e9d444222b132bf9394193d97ebab61d419027912424b:89","repairs":["action.version /schema_version","action.task_id /task_id"],"run_id":"run-01a1e34a-c48d-772b-aa28-95419566ddda","seq":5},"type":"participant_output_v1"},"seq":22,"source":"flow","stream":"main"}', '\x79f486df4b5836813b920d0a6689a2b562c2813e2e5a34bb0027ccaa7fa85203');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 23, '{"fact_id":"01a1e34a-c9be-73a4-a740-9d825a1fc93c","occurred_at":"2026-11-16T07:38:11.774Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"result/1e0fbd0d-de9a-43c4-b4d6-6f58cd466b11","payload":{"action_id":"1e0fbd0d-de9a-43c4-b4d6-6f58cd466b11","compliance":{"effects_declared":true,"rollback_possible":true,"sandbox_as_required":true,"within_resources":true,"within_scope":true},"controls":[{"name":"user_namespace","profile":"single_user"},{"name":"pid_namespace"},{"name":"mount_namespace"},{"name":"ipc_namespace"},{"name":"uts_namespace"},{"name":"network_namespace","profile":"none"},{"name":"no_new_privileges"},{"name":"seccomp","profile":"unix_sockets_inside"},{"detail":"/tmp/writ-frozen/postgres/home /tmp/writ-frozen/postgres/project","name":"overlay","profile":"disk"},{"detail":"12 places","name":"hidden"},{"name":"control_group","profile":"kernel"}],"diff":{"added":[{"class":"staged","kind":"directory","mode":"0755","path":"/tmp/writ-frozen/postgres/project/artifacts/a","size":0},{"class":"staged","kind":"directory","mode":"0755","path":"/tmp/writ-frozen/postgres/project/artifacts/a/1","size":0},{"after":"sha256:8c035a2548b96957c3cbdf5b1c91b6d0e1a07451be3af8a514cc5db10b010d16","class":"staged","kind":"file","mode":"0644","path":"/tmp/writ-frozen/postgres/project/artifacts/a/1/out.md","size":9}],"bytes":9,"counts":{"added":3,"deleted":0,"modified":0},"deleted":[],"manifest":"sha256:b7d3384e35716d4af4e2a722fe8461d6e1492c47c85f5f78635c747a9b2e2906","modified":[]},"execution":{"ended_at":"2026-11-16T07:38:11.373Z","exit_code":0,"signal":null,"started_at":"2026-11-16T07:38:11.010Z","status":"SUCCESS"},"findings":[{"code":"effect.not_observed","detail":"delete","path":"/tmp/writ-frozen/postgres/project/**"},{"code":"effect.not_observed","detail":"delete","path":"/tmp/writ-frozen/postgres/project/artifacts/a/1/**"}],"outputs":{"stderr":"","stdout":"body:sha256:6339e270092b37e57133f77cdaf4f187008e34e6cb9194f216181c1aa62b3842:89","truncated":false},"proposal_digest":"sha256:d7f78989802ac81ff919bf45029e15e5042eef3f2ad81ef8a892b33eae83452e","resources":{"cpu_ms":44,"disk_mb":0.1,"duration_ms":363,"enforced_by":{"cpu":"polled","disk":"polled","duration":"polled","memory":"kernel","processes":"kernel"},"memory_peak_mb":8.2,"processes":11},"sandbox_id":"07b9a292-0f27-4411-8226-460da5e8a7e4","side_effects":{"background_processes":0,"devices":false,"network":[],"privileged":false}},"type":"sandbox_result_v1"},"seq":23,"source":"gate","stream":"main"}', '\xa61cd329517aea4c4d3994ef6146713b2dc0736699304556fc6107142030ddd9');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 24, '{"fact_id":"01a1e34a-c9be-769a-9822-c620a3978050","occurred_at":"2026-11-16T07:38:11.774Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"evaluation/1e0fbd0d-de9a-43c4-b4d6-6f58cd466b11","payload":{"action_id":"1e0fbd0d-de9a-43c4-b4d6-6f58cd466b11","action_type":"COMMAND_EXECUTION","actor_kind":"ai","basis":{"actor":"ann","facts_seen":{"host":11,"stream":19},"home":"/tmp/writ-frozen/postgres/home","machine":"vm","overrides":[],"recent_rollbacks":1},"comparison":{"path_directories":["/root/.cargo/bin","/root/.pyenv/plugins/pyenv-virtualenv/shims","/root/.pyenv/shims","/root/.pyenv/bin","/usr/local/sbin","/usr/local/bin","/usr/sbin","/usr/bin"],"scripts_changed":[],"steps":[]},"cooldown_on_repeat":false,"declared_by_approval":false,"door":"propose","evaluator":{"name":"gate","version":"2"},"held":{"asked":false,"bases":[]},"host":{"ceilings":{"max_cpu_ms":3600000,"max_disk_mb":20480,"max_duration_ms":3600000,"max_memory_mb":8192},"homes":[{"own":false,"path":"/root"},{"own":false,"path":"/home/cloudsdk"},{"own":false,"path":"/home/reach-u"},{"own":false,"path":"/home/rename-u"},{"own":false,"path":"/home/laws-u"},{"own":false,"path":"/home/promo-u"},{"own":false,"path":"/home/writ-test"},{"own":true,"path":"/tmp/writ-frozen/postgres/home"}],"max_age_ms":3600000,"max_future_ms":60000,"now_ms":1794814690926,"real_paths":[],"roots":[{"declared":"/tmp/writ-frozen/postgres/project","device":"65024","filesystem":"ext4","inode":"2217733","kind":"directory","mounts":[],"read_only":false,"real":"/tmp/writ-frozen/postgres/project"}],"seen_action_ids":[],"workspace":"/tmp/writ-frozen/postgres/project","writ_places":["/tmp/writ-frozen/postgres/home/.local/state/writ","/tmp/writ-frozen/postgres/project/.writ"]},"intent":"sha256:e0ff66aeef22996b2e60e0120c0f65dd577b43dcb3df464181315d6c9102f16d","law_outcomes":[],"laws":"sha256:f3f76afbf7ac4b7e3ae9b8b5fe76c61415f654b08a93f46f9cc442fca313fdab","lists":"sha256:dc19c7fe3914c8f827fc70ec968fcfc2b6a0c5bc5bfc96ebaa27ccd3ba92bf0c","obstacles":[],"operation_digest":"sha256:b13f090bc9622a04182605dea3c0f9e4af3c97adb7411ade8565b4da74ae4fcd","preconditions":{"failed":[]},"proposal_digest":"sha256:d7f78989802ac81ff919bf45029e15e5042eef3f2ad81ef8a892b33eae83452e","result_digest":"sha256:3237b816da7f37d54745e4b4c7762cdaef979158bcfb242ce6582bdcad0d56dd","risk":{"declared":"MEDIUM","effective":"MEDIUM","floor":"MEDIUM"},"standing":{"background_before":false,"cooldown_until_ms":null,"halted":false,"laws_changed":false,"permanent":false,"reconfirm":false},"violations":[]},"type":"evaluation_v1"},"seq":24,"source":"gate","stream":"main"}', '\x59ec4da6a38d137130162f2b52c40a0d290fd1e724845a82bfc3d1ad500fcd44');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 25, '{"fact_id":"01a1e34a-c9be-7999-9d06-53f88fe7dc55","occurred_at":"2026-11-16T07:38:11.774Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"decision/1e0fbd0d-de9a-43c4-b4d6-6f58cd466b11","payload":{"action_id":"1e0fbd0d-de9a-43c4-b4d6-6f58cd466b11","code":"promote.ok","codes":["promote.ok","effect.not_observed"],"decided_at":"2026-11-16T07:38:11.563Z","decision":"PROMOTE","law_refs":[],"permanent":false,"proposal_digest":"sha256:d7f78989802ac81ff919bf45029e15e5042eef3f2ad81ef8a892b33eae83452e","result_digest":"sha256:3237b816da7f37d54745e4b4c7762cdaef979158bcfb242ce6582bdcad0d56dd"},"type":"decision_v1"},"seq":25,"source":"gate","stream":"main"}', '\xaf1e6ef46feef9fe89ffdc593c98f36f629fbc37c1069b4d39e41f9dc5ce1340');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 26, '{"fact_id":"01a1e34a-c9fe-7563-91ad-fd7dd11838e2","occurred_at":"2026-11-16T07:38:11.838Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/6","payload":{"at":"2026-11-16T07:38:11.802Z","event":{"at":"2026-11-16T07:38:11.802Z","command":2,"node_id":"a","nonce":"473bcc6a2a287a80a60ad00779f714a6","outcome":"ended","principal":"participant:sha256:c07a33250dbe5a433b865a68afc7717afae992bedaf4a87c8ced397363ead8bb","required_files_exist":true,"seconds":0.7546338649999816,"stage":{"action_id":"1e0fbd0d-de9a-43c4-b4d6-6f58cd466b11","manifest":"sha256:b7d3384e35716d4af4e2a722fe8461d6e1492c47c85f5f78635c747a9b2e2906","paths":["artifacts/a/1/out.md"]},"tokens":0,"type":"attempt_ended"},"kind":"event","run_id":"run-01a1e34a-c48d-772b-aa28-95419566ddda","seq":6},"type":"flow_event_v1"},"seq":26,"source":"flow","stream":"main"}', '\x9756d389dc425c520eb85f2d3cf1b4c0e9fbb7b7a13c6a32ac90681d172fb4eb');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 27, '{"fact_id":"01a1e34a-c9fe-7bb5-bc42-07f0a85cb012","occurred_at":"2026-11-16T07:38:11.838Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/7","payload":{"at":"2026-11-16T07:38:11.802Z","delta":null,"digest":"sha256:8c035a2548b96957c3cbdf5b1c91b6d0e1a07451be3af8a514cc5db10b010d16","format":"md","kind":"artifact","node_id":"a","path":"artifacts/a/1/out.md","run_id":"run-01a1e34a-c48d-772b-aa28-95419566ddda","seq":7},"type":"flow_event_v1"},"seq":27,"source":"flow","stream":"main"}', '\x7f0e759a620ba4e8caffd700b840c96a9ee8f3864401284ccaeecf54f2822008');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 28, '{"fact_id":"01a1e34a-c9fe-728b-b970-0dd3df0fba68","occurred_at":"2026-11-16T07:38:11.838Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/8","payload":{"at":"2026-11-16T07:38:11.802Z","kind":"staged","manifest":"sha256:b7d3384e35716d4af4e2a722fe8461d6e1492c47c85f5f78635c747a9b2e2906","node_id":"a","run_id":"run-01a1e34a-c48d-772b-aa28-95419566ddda","seq":8,"stands_on":[]},"type":"flow_event_v1"},"seq":28,"source":"flow","stream":"main"}', '\x9badcec12edea885df35c40c0378b9af3a7b593c8e1bcbf75f006c9ca72817fd');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 29, '{"fact_id":"01a1e34a-c9fe-74ca-ba89-b7b4cd26859e","occurred_at":"2026-11-16T07:38:11.838Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/9","payload":{"at":"2026-11-16T07:38:11.802Z","kind":"status","node_id":"a","run_id":"run-01a1e34a-c48d-772b-aa28-95419566ddda","seq":9,"status":"submitted","why":"review"},"type":"flow_event_v1"},"seq":29,"source":"flow","stream":"main"}', '\xb2782bce6b31e7722386cf8fd0b64db381f18ab434fd1ee778596e5ff66f94f9');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 30, '{"fact_id":"01a1e34a-c9fe-759f-b2c6-7f615d9e9a8b","occurred_at":"2026-11-16T07:38:11.838Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/10","payload":{"at":"2026-11-16T07:38:11.802Z","edge_id":"e","kind":"fired","round":1,"run_id":"run-01a1e34a-c48d-772b-aa28-95419566ddda","seq":10},"type":"flow_event_v1"},"seq":30,"source":"flow","stream":"main"}', '\x37ae039ed9265e6247a779961506ba0bad5eb40821b30a525aa6fe57cd9ce0e7');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 31, '{"fact_id":"01a1e34a-c9ff-73c2-b6a8-165c62e919ea","occurred_at":"2026-11-16T07:38:11.839Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/11","payload":{"at":"2026-11-16T07:38:11.802Z","cause":"edge","is_fresh":true,"kind":"entered","node_id":"c","round":1,"run_id":"run-01a1e34a-c48d-772b-aa28-95419566ddda","seq":11},"type":"flow_event_v1"},"seq":31,"source":"flow","stream":"main"}', '\x07e25d516b6f80c78d41f3b79296381184d6fc11af1f85d0edb2f03156e8f4ff');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 32, '{"fact_id":"01a1e34a-c9ff-7f7c-85a7-cf7806df54d3","occurred_at":"2026-11-16T07:38:11.839Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/12","payload":{"at":"2026-11-16T07:38:11.802Z","command":{"access":[],"attempt":1,"command":12,"delay_seconds":0,"input":{"last_error":null,"last_review":null,"previous_output_path":null},"node_id":"c","participant":{"human":"ann"},"review":{"artifact_digest":"sha256:8c035a2548b96957c3cbdf5b1c91b6d0e1a07451be3af8a514cc5db10b010d16","artifact_path":"artifacts/a/1/out.md","review_id":"473bcc6a2a287a80a60ad00779f714a6.12","target":"a"},"stands_on":[{"manifest":"sha256:b7d3384e35716d4af4e2a722fe8461d6e1492c47c85f5f78635c747a9b2e2906","node_id":"a"}],"type":"run_participant"},"kind":"commanded","run_id":"run-01a1e34a-c48d-772b-aa28-95419566ddda","seq":12},"type":"flow_event_v1"},"seq":32,"source":"flow","stream":"main"}', '\x080b197afd94cb59127adbeda00073678ba760787b26692d3e82a4e93dc408ee');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 33, '{"fact_id":"01a1e34a-cf24-7636-9374-1c897d9460e5","occurred_at":"2026-11-16T07:38:13.156Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"proposal/01a1e34a-cc03-7b60-b83c-6abf00c8bec9","original":{"body":"sha256:80dbe44257eca43d3cc1ffe84f099e4613cb2364760d93a87cc97f8b2eb13f95","bytes":1193},"payload":{"descriptor":{"action_id":"01a1e34a-cc03-7b60-b83c-6abf00c8bec9","action_type":"COMMAND_EXECUTION","audit":{"log":true,"log_level":"SUMMARY","retain_days":30},"confirmation":{"cooldown_on_repeat":false,"reason":"The effects are declared by approving them.","required":true},"created_at":"2026-11-16T07:38:12.355Z","created_by":"ai","descriptor_version":"1.0","effects":{"filesystem":{"create":[],"delete":[],"modify":[]},"network":false,"system_state_change":false},"intent_summary":"Run sh as a command of writ exec.","preconditions":{"network_available":false,"paths_exist":[],"user_idle":false},"resources":{"max_cpu_ms":3600000,"max_disk_mb":4096,"max_duration_ms":3600000,"max_memory_mb":4096},"risk_level":"MEDIUM","rollback":{"rollback_scope":"scope","rollback_type":"filesystem_snapshot","supported":true},"sandbox":{"allow_network":false,"max_runs":1,"required":true,"sandbox_type":"container"},"scope":{"filesystem":{"paths":["/tmp/writ-frozen/postgres/project"],"recursive":true},"network":{"required":false},"ui":{"required":false}}},"operation":{"argv":["sh","-c","mkdir -p db && echo \"create\" > db/1.sql"],"cwd":"/tmp/writ-frozen/postgres/project","type":"COMMAND_EXECUTION"}},"type":"proposal_v1"},"seq":33,"source":"gate","stream":"main"}', '\x627aa61fdb193ce0d1cd66aff654f16e8ef31b18fd018bba932f1841fbf53859');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 34, '{"fact_id":"01a1e34a-cfde-73d8-b1ef-6f7c073d1577","occurred_at":"2026-11-16T07:38:13.342Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"result/01a1e34a-cc03-7b60-b83c-6abf00c8bec9","payload":{"action_id":"01a1e34a-cc03-7b60-b83c-6abf00c8bec9","compliance":{"effects_declared":true,"rollback_possible":true,"sandbox_as_required":true,"within_resources":true,"within_scope":true},"controls":[{"name":"user_namespace","profile":"single_user"},{"name":"pid_namespace"},{"name":"mount_namespace"},{"name":"ipc_namespace"},{"name":"uts_namespace"},{"name":"network_namespace","profile":"none"},{"name":"no_new_privileges"},{"name":"seccomp","profile":"unix_sockets_inside"},{"detail":"/tmp/writ-frozen/postgres/home /tmp/writ-frozen/postgres/project","name":"overlay","profile":"disk"},{"detail":"12 places","name":"hidden"},{"name":"control_group","profile":"kernel"}],"diff":{"added":[{"class":"staged","kind":"directory","mode":"0755","path":"/tmp/writ-frozen/postgres/project/db","size":0},{"after":"sha256:0a03d89c3515d8d1d0f6d05f590116bc6c7c323d6fb448c1d6c3a38425fc98bc","class":"staged","kind":"file","mode":"0644","path":"/tmp/writ-frozen/postgres/project/db/1.sql","size":7}],"bytes":7,"counts":{"added":2,"deleted":0,"modified":0},"deleted":[],"manifest":"sha256:da12a1d518ba883991994358edac6852d01a603d85f9a2782ff0c9491572d021","modified":[]},"execution":{"ended_at":"2026-11-16T07:38:13.215Z","exit_code":0,"signal":null,"started_at":"2026-11-16T07:38:13.180Z","status":"SUCCESS"},"findings":[],"outputs":{"stderr":"","stdout":"","truncated":false},"proposal_digest":"sha256:2c650e36d425456f97549b51e8344547f6a2f9310217b63557a6f234a6cc5035","resources":{"cpu_ms":4,"disk_mb":0.1,"duration_ms":35,"enforced_by":{"cpu":"polled","disk":"polled","duration":"polled","memory":"kernel","processes":"kernel"},"memory_peak_mb":1.7,"processes":2},"sandbox_id":"0ee2901f-3e6a-4b50-945f-449c736df44d","side_effects":{"background_processes":0,"devices":false,"network":[],"privileged":false}},"type":"sandbox_result_v1"},"seq":34,"source":"gate","stream":"main"}', '\x0b50beffc0205a9147d9e0e57dfb72bab661747e1704440bbfe7437bdba13c75');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 35, '{"fact_id":"01a1e34a-cfde-7bc7-8c70-bb94822e4f66","occurred_at":"2026-11-16T07:38:13.342Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"evaluation/01a1e34a-cc03-7b60-b83c-6abf00c8bec9","payload":{"action_id":"01a1e34a-cc03-7b60-b83c-6abf00c8bec9","action_type":"COMMAND_EXECUTION","actor_kind":"human","basis":{"actor":"ann","facts_seen":{"host":11,"stream":33},"home":"/tmp/writ-frozen/postgres/home","machine":"vm","overrides":[],"recent_rollbacks":1},"comparison":{"path_directories":["/root/.cargo/bin","/root/.pyenv/plugins/pyenv-virtualenv/shims","/root/.pyenv/shims","/root/.pyenv/bin","/usr/local/sbin","/usr/local/bin","/usr/sbin","/usr/bin"],"scripts_changed":[],"steps":[]},"cooldown_on_repeat":false,"declared_by_approval":true,"door":"exec","evaluator":{"name":"gate","version":"2"},"host":{"ceilings":{"max_cpu_ms":3600000,"max_disk_mb":20480,"max_duration_ms":3600000,"max_memory_mb":8192},"homes":[{"own":false,"path":"/root"},{"own":false,"path":"/home/cloudsdk"},{"own":false,"path":"/home/reach-u"},{"own":false,"path":"/home/rename-u"},{"own":false,"path":"/home/laws-u"},{"own":false,"path":"/home/promo-u"},{"own":false,"path":"/home/writ-test"},{"own":true,"path":"/tmp/writ-frozen/postgres/home"}],"max_age_ms":3600000,"max_future_ms":60000,"now_ms":1794814693018,"real_paths":[],"roots":[{"declared":"/tmp/writ-frozen/postgres/project","device":"65024","filesystem":"ext4","inode":"2217733","kind":"directory","mounts":[],"read_only":false,"real":"/tmp/writ-frozen/postgres/project"}],"seen_action_ids":[],"workspace":"/tmp/writ-frozen/postgres/project","writ_places":["/tmp/writ-frozen/postgres/home/.local/state/writ","/tmp/writ-frozen/postgres/project/.writ"]},"intent":"sha256:92248b3c454bce4986969998cc1c750c5b896bf1dd7a2a1da198fc158e72e90c","law_outcomes":[{"action":"confirm","overridden":false,"policy_id":"ASK_MIGRATIONS","reads_result":true,"state":"broken","tier":2}],"laws":"sha256:f3f76afbf7ac4b7e3ae9b8b5fe76c61415f654b08a93f46f9cc442fca313fdab","lists":"sha256:dc19c7fe3914c8f827fc70ec968fcfc2b6a0c5bc5bfc96ebaa27ccd3ba92bf0c","obstacles":[],"operation_digest":"sha256:e02b028e2ef8ddf3bbc12d2ac999ee6c9cc97d5a04d37cca83a978d7a059eb89","preconditions":{"failed":[]},"proposal_digest":"sha256:2c650e36d425456f97549b51e8344547f6a2f9310217b63557a6f234a6cc5035","result_digest":"sha256:292667a0c93fcdc4d51eda33b365c460e39cdb9bda068d182fead464c1f70d78","risk":{"declared":"MEDIUM","effective":"MEDIUM","floor":"MEDIUM"},"standing":{"background_before":false,"cooldown_until_ms":null,"halted":false,"laws_changed":false,"permanent":false,"reconfirm":false},"violations":[]},"type":"evaluation_v1"},"seq":35,"source":"gate","stream":"main"}', '\x912fbf9116b02730206ea589e74f26957faba3c4e4e889767948407d43481539');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 36, '{"fact_id":"01a1e34a-cfde-7358-8884-bd82e47f8e77","occurred_at":"2026-11-16T07:38:13.342Z","principal":{"id":"ann","kind":"human","namespace":"farm"},"record":{"idempotency_key":"decision/01a1e34a-cc03-7b60-b83c-6abf00c8bec9","payload":{"action_id":"01a1e34a-cc03-7b60-b83c-6abf00c8bec9","code":"confirm.law","codes":["confirm.law","law.ASK_MIGRATIONS","confirm.descriptor"],"decided_at":"2026-11-16T07:38:13.311Z","decision":"CONFIRM","law_refs":["ASK_MIGRATIONS"],"permanent":false,"proposal_digest":"sha256:2c650e36d425456f97549b51e8344547f6a2f9310217b63557a6f234a6cc5035","result_digest":"sha256:292667a0c93fcdc4d51eda33b365c460e39cdb9bda068d182fead464c1f70d78","tier":2},"type":"decision_v1"},"seq":36,"source":"gate","stream":"main"}', '\xea0e44293ee47d49c0c63700c0c13fcf79cbf6462ec1798ec413c55bfd1dd4b3');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 37, '{"fact_id":"01a1e34a-d38d-7de2-90c8-b36fc82f0a2b","occurred_at":"2026-11-16T07:38:14.285Z","principal":{"id":"bot","kind":"ai","namespace":"farm"},"record":{"idempotency_key":"proposal/01a1e34a-d185-77d6-b3f4-5a76d28433be","original":{"body":"sha256:639888f791de55b73d56371c3cac7b29630aca42c176b60cf106d2a098852e27","bytes":1241},"payload":{"descriptor":{"action_id":"01a1e34a-d185-77d6-b3f4-5a76d28433be","action_type":"COMMAND_EXECUTION","audit":{"log":true,"log_level":"SUMMARY","retain_days":30},"confirmation":{"cooldown_on_repeat":false,"reason":"","required":false},"created_at":"2026-11-16T07:38:13.765Z","created_by":"ai","descriptor_version":"1.0","effects":{"filesystem":{"create":["/tmp/writ-frozen/postgres/project/**"],"delete":[],"modify":["/tmp/writ-frozen/postgres/project/**"]},"network":false,"system_state_change":false},"intent_summary":"Run sh as a command of writ exec.","preconditions":{"network_available":false,"paths_exist":[],"user_idle":false},"resources":{"max_cpu_ms":3600000,"max_disk_mb":4096,"max_duration_ms":3600000,"max_memory_mb":4096},"risk_level":"MEDIUM","rollback":{"rollback_scope":"declared_effects_only","rollback_type":"filesystem_snapshot","supported":true},"sandbox":{"allow_network":false,"max_runs":1,"required":true,"sandbox_type":"container"},"scope":{"filesystem":{"paths":["/tmp/writ-frozen/postgres/project"],"recursive":true},"network":{"required":false},"ui":{"required":false}}},"operation":{"argv":["sh","-c","mkdir -p db && echo \"drop\" > db/2.sql"],"cwd":"/tmp/writ-frozen/postgres/project","type":"COMMAND_EXECUTION"}},"type":"proposal_v1"},"seq":37,"source":"gate","stream":"main"}', '\xfe3bbae9cfaedd432f3a299be8c5146d49164677008516e46152a0c12d362ca1');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 38, '{"fact_id":"01a1e34a-d3ff-7c4b-affb-4b178531c2e0","occurred_at":"2026-11-16T07:38:14.399Z","principal":{"id":"bot","kind":"ai","namespace":"farm"},"record":{"idempotency_key":"result/01a1e34a-d185-77d6-b3f4-5a76d28433be","payload":{"action_id":"01a1e34a-d185-77d6-b3f4-5a76d28433be","compliance":{"effects_declared":true,"rollback_possible":true,"sandbox_as_required":true,"within_resources":true,"within_scope":true},"controls":[{"name":"user_namespace","profile":"single_user"},{"name":"pid_namespace"},{"name":"mount_namespace"},{"name":"ipc_namespace"},{"name":"uts_namespace"},{"name":"network_namespace","profile":"none"},{"name":"no_new_privileges"},{"name":"seccomp","profile":"unix_sockets_inside"},{"detail":"/tmp/writ-frozen/postgres/home /tmp/writ-frozen/postgres/project","name":"overlay","profile":"disk"},{"detail":"12 places","name":"hidden"},{"name":"control_group","profile":"kernel"}],"diff":{"added":[{"class":"staged","kind":"directory","mode":"0755","path":"/tmp/writ-frozen/postgres/project/db","size":0},{"after":"sha256:35e4dbbcbd8d282b765d794239597078fcce7725f457f6eef29fb7847e1635d1","class":"staged","kind":"file","mode":"0644","path":"/tmp/writ-frozen/postgres/project/db/2.sql","size":5}],"bytes":5,"counts":{"added":2,"deleted":0,"modified":0},"deleted":[],"manifest":"sha256:eaeacadefff5409bd4fa22fb769cfe50135870fdae163eb1c1dae7260415bbb4","modified":[]},"execution":{"ended_at":"2026-11-16T07:38:14.317Z","exit_code":0,"signal":null,"started_at":"2026-11-16T07:38:14.301Z","status":"SUCCESS"},"findings":[],"outputs":{"stderr":"","stdout":"","truncated":false},"proposal_digest":"sha256:e249ac02e5b326dca51c3c48000dc89b6ec5c2505958b7f590bd58847899ff44","resources":{"cpu_ms":3,"disk_mb":0.1,"duration_ms":16,"enforced_by":{"cpu":"polled","disk":"polled","duration":"polled","memory":"kernel","processes":"kernel"},"memory_peak_mb":1.7,"processes":2},"sandbox_id":"26ab0977-e5ec-4ef4-931f-57b0403507a8","side_effects":{"background_processes":0,"devices":false,"network":[],"privileged":false}},"type":"sandbox_result_v1"},"seq":38,"source":"gate","stream":"main"}', '\x6c4e698a117488a65900a36f4d77367877cb36293ca333cb448680c308e9285a');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 39, '{"fact_id":"01a1e34a-d3ff-7085-80d2-1312de760987","occurred_at":"2026-11-16T07:38:14.399Z","principal":{"id":"bot","kind":"ai","namespace":"farm"},"record":{"idempotency_key":"evaluation/01a1e34a-d185-77d6-b3f4-5a76d28433be","payload":{"action_id":"01a1e34a-d185-77d6-b3f4-5a76d28433be","action_type":"COMMAND_EXECUTION","actor_kind":"ai","basis":{"actor":"bot","facts_seen":{"host":11,"stream":37},"home":"/tmp/writ-frozen/postgres/home","machine":"vm","overrides":[],"recent_rollbacks":0},"comparison":{"path_directories":["/root/.cargo/bin","/root/.pyenv/plugins/pyenv-virtualenv/shims","/root/.pyenv/shims","/root/.pyenv/bin","/usr/local/sbin","/usr/local/bin","/usr/sbin","/usr/bin"],"scripts_changed":[],"steps":[]},"cooldown_on_repeat":false,"declared_by_approval":false,"door":"exec","evaluator":{"name":"gate","version":"2"},"host":{"ceilings":{"max_cpu_ms":3600000,"max_disk_mb":20480,"max_duration_ms":3600000,"max_memory_mb":8192},"homes":[{"own":false,"path":"/root"},{"own":false,"path":"/home/cloudsdk"},{"own":false,"path":"/home/reach-u"},{"own":false,"path":"/home/rename-u"},{"own":false,"path":"/home/laws-u"},{"own":false,"path":"/home/promo-u"},{"own":false,"path":"/home/writ-test"},{"own":true,"path":"/tmp/writ-frozen/postgres/home"}],"max_age_ms":3600000,"max_future_ms":60000,"now_ms":1794814694126,"real_paths":[],"roots":[{"declared":"/tmp/writ-frozen/postgres/project","device":"65024","filesystem":"ext4","inode":"2217733","kind":"directory","mounts":[],"read_only":false,"real":"/tmp/writ-frozen/postgres/project"}],"seen_action_ids":[],"workspace":"/tmp/writ-frozen/postgres/project","writ_places":["/tmp/writ-frozen/postgres/home/.local/state/writ","/tmp/writ-frozen/postgres/project/.writ"]},"intent":"sha256:d0b8cc65a75102c7d75fc748222fbc7bd4ac69e6a5b2369d7f545ec2a80ce664","law_outcomes":[{"action":"confirm","overridden":false,"policy_id":"ASK_MIGRATIONS","reads_result":true,"state":"broken","tier":2}],"laws":"sha256:f3f76afbf7ac4b7e3ae9b8b5fe76c61415f654b08a93f46f9cc442fca313fdab","lists":"sha256:dc19c7fe3914c8f827fc70ec968fcfc2b6a0c5bc5bfc96ebaa27ccd3ba92bf0c","obstacles":[],"operation_digest":"sha256:293bf779396d0c3b05a8d0d06013c4a86c1bfb2ead1c6f9e611781d564aa6db2","preconditions":{"failed":[]},"proposal_digest":"sha256:e249ac02e5b326dca51c3c48000dc89b6ec5c2505958b7f590bd58847899ff44","result_digest":"sha256:e1daf9b5e9f0473ab3664489a74914962ee78922498d455fdcd75882bf7c0880","risk":{"declared":"MEDIUM","effective":"MEDIUM","floor":"MEDIUM"},"standing":{"background_before":false,"cooldown_until_ms":null,"halted":false,"laws_changed":false,"permanent":false,"reconfirm":false},"violations":[]},"type":"evaluation_v1"},"seq":39,"source":"gate","stream":"main"}', '\x21667639ab7287b0b64eda95247f53c6c551d9879ec38c1a5486341bdea95ce7');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts VALUES (2, 40, '{"fact_id":"01a1e34a-d3ff-78d5-93ac-efc70856a37a","occurred_at":"2026-11-16T07:38:14.399Z","principal":{"id":"bot","kind":"ai","namespace":"farm"},"record":{"idempotency_key":"decision/01a1e34a-d185-77d6-b3f4-5a76d28433be","payload":{"action_id":"01a1e34a-d185-77d6-b3f4-5a76d28433be","code":"confirm.law","codes":["confirm.law","law.ASK_MIGRATIONS"],"decided_at":"2026-11-16T07:38:14.376Z","decision":"CONFIRM","law_refs":["ASK_MIGRATIONS"],"permanent":false,"proposal_digest":"sha256:e249ac02e5b326dca51c3c48000dc89b6ec5c2505958b7f590bd58847899ff44","result_digest":"sha256:e1daf9b5e9f0473ab3664489a74914962ee78922498d455fdcd75882bf7c0880","tier":2},"type":"decision_v1"},"seq":40,"source":"gate","stream":"main"}', '\xf4a3a0580fdabfdfdbd15ad353a9b199870b4fc15f53788097476798c3d19fa6');


--
-- Data for Name: heads; Type: TABLE DATA; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.heads VALUES (2, 41, 10, 'ac5e69db-c60b-473e-86dd-e4e9db06ebab', 'writ/908b9093-885f-46ea-94f3-8ab8400705ce/main
41
z7xJMy6QOTjgP4B8UYdEOkepMdDwFjvMQAd1+7hQXyc=

— writ/908b9093-885f-46ea-94f3-8ab8400705ce/main t2hKTlobh8e8k0rgEmhaQWqVdscXVIaBiOgr+bWGV5+ll2z2a7vphhkiCs7TClLfcs3yBXmhPWpJh+8zHx5PfSArVAY=
');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.heads VALUES (1, 11, 9, '76c90628-01d1-460d-a35f-59b75f3cc4f6', 'writ/908b9093-885f-46ea-94f3-8ab8400705ce/host
11
2R1lTJ7d/JQPxM2QAapifQiVsEiEzVBEvTjmzLEdLK8=

— writ/908b9093-885f-46ea-94f3-8ab8400705ce/host Lbj7RcXrqt1RLePlr3vwEre2LV2s0IIbAQuml3bS2FQfeAWLn3lVkE1nTTwgtDoA3RQy0m5t8h2WwKkYm13Lnv2T4A0=
— writ/908b9093-885f-46ea-94f3-8ab8400705ce/host 1zbnL7IUyuB7pOrvK/3KiBUAEOil/l4jSKkB56kWNPrT/USG/kk0YOI3n49GEi12KD/yIB+JG47+8pnwVkjg8Uq+Jgs=
');


--
-- Data for Name: keys; Type: TABLE DATA; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'receipt:sha256:4e847a92c3550a4e3c28c8bfeb4a922e492cb5ebbf97289178961d62d61149c7', 1);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'proposal/01a1e34a-a1da-78db-be2e-abf1b8ec524e', 3);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'result/01a1e34a-a1da-78db-be2e-abf1b8ec524e', 4);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'evaluation/01a1e34a-a1da-78db-be2e-abf1b8ec524e', 5);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'decision/01a1e34a-a1da-78db-be2e-abf1b8ec524e', 6);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'promotion/01a1e34a-a1da-78db-be2e-abf1b8ec524e', 7);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'rollback/0990ff1e-1e23-44ce-893c-c7490297abce', 8);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'proposal/01a1e34a-b046-7189-89f8-42c770b71e4b', 9);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'result/01a1e34a-b046-7189-89f8-42c770b71e4b', 10);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'evaluation/01a1e34a-b046-7189-89f8-42c770b71e4b', 11);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'decision/01a1e34a-b046-7189-89f8-42c770b71e4b', 12);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'promotion/01a1e34a-b046-7189-89f8-42c770b71e4b', 13);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/0', 15);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/1', 16);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/2', 17);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/3', 18);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'proposal/1e0fbd0d-de9a-43c4-b4d6-6f58cd466b11', 19);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'proposal/65bdb58f-c052-4d2e-949f-256d4c0487fb', 20);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/4', 21);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/5', 22);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'result/1e0fbd0d-de9a-43c4-b4d6-6f58cd466b11', 23);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'evaluation/1e0fbd0d-de9a-43c4-b4d6-6f58cd466b11', 24);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'decision/1e0fbd0d-de9a-43c4-b4d6-6f58cd466b11', 25);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/6', 26);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/7', 27);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/8', 28);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/9', 29);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/10', 30);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/11', 31);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/12', 32);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'proposal/01a1e34a-cc03-7b60-b83c-6abf00c8bec9', 33);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'result/01a1e34a-cc03-7b60-b83c-6abf00c8bec9', 34);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'evaluation/01a1e34a-cc03-7b60-b83c-6abf00c8bec9', 35);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'decision/01a1e34a-cc03-7b60-b83c-6abf00c8bec9', 36);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'proposal/01a1e34a-d185-77d6-b3f4-5a76d28433be', 37);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'result/01a1e34a-d185-77d6-b3f4-5a76d28433be', 38);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'evaluation/01a1e34a-d185-77d6-b3f4-5a76d28433be', 39);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys VALUES (2, 'decision/01a1e34a-d185-77d6-b3f4-5a76d28433be', 40);


--
-- Data for Name: ledger; Type: TABLE DATA; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.ledger VALUES (1, 'writ/908b9093-885f-46ea-94f3-8ab8400705ce', 1);


--
-- Data for Name: marks; Type: TABLE DATA; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.marks VALUES (1, 11);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.marks VALUES (2, 41);


--
-- Data for Name: streams; Type: TABLE DATA; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.streams VALUES (1, 'host', 'writ/908b9093-885f-46ea-94f3-8ab8400705ce/host');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.streams VALUES (2, 'main', 'writ/908b9093-885f-46ea-94f3-8ab8400705ce/main');


--
-- Data for Name: terms; Type: TABLE DATA; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (1, 0, 'key_rotated_v1', 0);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (1, 4, '["human","farm","ann"]', 0);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (1, 0, 'principal_v1', 1);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (1, 4, '["human","farm","ann"]', 1);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (1, 0, 'principal_v1', 2);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (1, 4, '["human","farm","ann"]', 2);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (1, 0, 'laws_v1', 3);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (1, 4, '["human","farm","ann"]', 3);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (1, 0, 'laws_v1', 4);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (1, 4, '["human","farm","ann"]', 4);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (1, 0, 'principal_v1', 5);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (1, 4, '["human","farm","ann"]', 5);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (1, 0, 'principal_v1', 6);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (1, 4, '["human","farm","ann"]', 6);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (1, 0, 'principal_v1', 7);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (1, 4, '["human","farm","ann"]', 7);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (1, 0, 'principal_v1', 8);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (1, 4, '["human","farm","ann"]', 8);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (1, 0, 'key_rotated_v1', 9);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (1, 4, '["human","farm","ann"]', 9);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'ao_act_task_v0', 0);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 2, 'act-01a1e34a-8da3-77ce-ac76-aafaf7fd2ff6', 0);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 0);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'ao_act_receipt_v0', 1);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 2, 'act-01a1e34a-8da3-77ce-ac76-aafaf7fd2ff6', 1);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["device","farm","pump-3"]', 1);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'receipt:sha256:4e847a92c3550a4e3c28c8bfeb4a922e492cb5ebbf97289178961d62d61149c7', 1);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'control_evaluation_v0', 2);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 2);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'proposal_v1', 3);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 1, '01a1e34a-a1da-78db-be2e-abf1b8ec524e', 3);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 3);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'proposal/01a1e34a-a1da-78db-be2e-abf1b8ec524e', 3);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'sandbox_result_v1', 4);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 1, '01a1e34a-a1da-78db-be2e-abf1b8ec524e', 4);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 4);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'result/01a1e34a-a1da-78db-be2e-abf1b8ec524e', 4);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'evaluation_v1', 5);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 1, '01a1e34a-a1da-78db-be2e-abf1b8ec524e', 5);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 5);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'evaluation/01a1e34a-a1da-78db-be2e-abf1b8ec524e', 5);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'decision_v1', 6);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 1, '01a1e34a-a1da-78db-be2e-abf1b8ec524e', 6);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 6);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'decision/01a1e34a-a1da-78db-be2e-abf1b8ec524e', 6);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'promotion_v1', 7);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 1, '01a1e34a-a1da-78db-be2e-abf1b8ec524e', 7);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 7);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'promotion/01a1e34a-a1da-78db-be2e-abf1b8ec524e', 7);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'rollback_v1', 8);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 8);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'rollback/0990ff1e-1e23-44ce-893c-c7490297abce', 8);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'proposal_v1', 9);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 1, '01a1e34a-b046-7189-89f8-42c770b71e4b', 9);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 9);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'proposal/01a1e34a-b046-7189-89f8-42c770b71e4b', 9);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'sandbox_result_v1', 10);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 1, '01a1e34a-b046-7189-89f8-42c770b71e4b', 10);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 10);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'result/01a1e34a-b046-7189-89f8-42c770b71e4b', 10);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'evaluation_v1', 11);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 1, '01a1e34a-b046-7189-89f8-42c770b71e4b', 11);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 11);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'evaluation/01a1e34a-b046-7189-89f8-42c770b71e4b', 11);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'decision_v1', 12);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 1, '01a1e34a-b046-7189-89f8-42c770b71e4b', 12);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 12);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'decision/01a1e34a-b046-7189-89f8-42c770b71e4b', 12);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'promotion_v1', 13);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 1, '01a1e34a-b046-7189-89f8-42c770b71e4b', 13);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 13);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'promotion/01a1e34a-b046-7189-89f8-42c770b71e4b', 13);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (1, 0, 'key_rotated_v1', 10);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (1, 4, '["human","farm","ann"]', 10);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'key_rotated_v1', 14);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 14);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'flow_started_v1', 15);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 3, 'run-01a1e34a-c48d-772b-aa28-95419566ddda', 15);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 15);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/0', 15);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'flow_event_v1', 16);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 3, 'run-01a1e34a-c48d-772b-aa28-95419566ddda', 16);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 16);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/1', 16);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'flow_event_v1', 17);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 3, 'run-01a1e34a-c48d-772b-aa28-95419566ddda', 17);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 17);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/2', 17);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'flow_event_v1', 18);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 3, 'run-01a1e34a-c48d-772b-aa28-95419566ddda', 18);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 18);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/3', 18);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'proposal_v1', 19);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 1, '1e0fbd0d-de9a-43c4-b4d6-6f58cd466b11', 19);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 19);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'proposal/1e0fbd0d-de9a-43c4-b4d6-6f58cd466b11', 19);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'proposal_v1', 20);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 1, '65bdb58f-c052-4d2e-949f-256d4c0487fb', 20);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 20);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'proposal/65bdb58f-c052-4d2e-949f-256d4c0487fb', 20);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'flow_event_v1', 21);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 3, 'run-01a1e34a-c48d-772b-aa28-95419566ddda', 21);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 21);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/4', 21);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'participant_output_v1', 22);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 3, 'run-01a1e34a-c48d-772b-aa28-95419566ddda', 22);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 22);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/5', 22);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'sandbox_result_v1', 23);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 1, '1e0fbd0d-de9a-43c4-b4d6-6f58cd466b11', 23);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 23);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'result/1e0fbd0d-de9a-43c4-b4d6-6f58cd466b11', 23);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'evaluation_v1', 24);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 1, '1e0fbd0d-de9a-43c4-b4d6-6f58cd466b11', 24);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 24);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'evaluation/1e0fbd0d-de9a-43c4-b4d6-6f58cd466b11', 24);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'decision_v1', 25);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 1, '1e0fbd0d-de9a-43c4-b4d6-6f58cd466b11', 25);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 25);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'decision/1e0fbd0d-de9a-43c4-b4d6-6f58cd466b11', 25);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'flow_event_v1', 26);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 3, 'run-01a1e34a-c48d-772b-aa28-95419566ddda', 26);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 26);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/6', 26);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'flow_event_v1', 27);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 3, 'run-01a1e34a-c48d-772b-aa28-95419566ddda', 27);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 27);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/7', 27);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'flow_event_v1', 28);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 3, 'run-01a1e34a-c48d-772b-aa28-95419566ddda', 28);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 28);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/8', 28);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'flow_event_v1', 29);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 3, 'run-01a1e34a-c48d-772b-aa28-95419566ddda', 29);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 29);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/9', 29);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'flow_event_v1', 30);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 3, 'run-01a1e34a-c48d-772b-aa28-95419566ddda', 30);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 30);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/10', 30);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'flow_event_v1', 31);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 3, 'run-01a1e34a-c48d-772b-aa28-95419566ddda', 31);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 31);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/11', 31);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'flow_event_v1', 32);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 3, 'run-01a1e34a-c48d-772b-aa28-95419566ddda', 32);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 32);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'flow/run-01a1e34a-c48d-772b-aa28-95419566ddda/12', 32);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'proposal_v1', 33);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 1, '01a1e34a-cc03-7b60-b83c-6abf00c8bec9', 33);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 33);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'proposal/01a1e34a-cc03-7b60-b83c-6abf00c8bec9', 33);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'sandbox_result_v1', 34);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 1, '01a1e34a-cc03-7b60-b83c-6abf00c8bec9', 34);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 34);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'result/01a1e34a-cc03-7b60-b83c-6abf00c8bec9', 34);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'evaluation_v1', 35);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 1, '01a1e34a-cc03-7b60-b83c-6abf00c8bec9', 35);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 35);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'evaluation/01a1e34a-cc03-7b60-b83c-6abf00c8bec9', 35);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'decision_v1', 36);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 1, '01a1e34a-cc03-7b60-b83c-6abf00c8bec9', 36);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["human","farm","ann"]', 36);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'decision/01a1e34a-cc03-7b60-b83c-6abf00c8bec9', 36);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'proposal_v1', 37);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 1, '01a1e34a-d185-77d6-b3f4-5a76d28433be', 37);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["ai","farm","bot"]', 37);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'proposal/01a1e34a-d185-77d6-b3f4-5a76d28433be', 37);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'sandbox_result_v1', 38);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 1, '01a1e34a-d185-77d6-b3f4-5a76d28433be', 38);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["ai","farm","bot"]', 38);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'result/01a1e34a-d185-77d6-b3f4-5a76d28433be', 38);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'evaluation_v1', 39);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 1, '01a1e34a-d185-77d6-b3f4-5a76d28433be', 39);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["ai","farm","bot"]', 39);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'evaluation/01a1e34a-d185-77d6-b3f4-5a76d28433be', 39);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 0, 'decision_v1', 40);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 1, '01a1e34a-d185-77d6-b3f4-5a76d28433be', 40);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 4, '["ai","farm","bot"]', 40);
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms VALUES (2, 5, 'decision/01a1e34a-d185-77d6-b3f4-5a76d28433be', 40);


--
-- Data for Name: tiles; Type: TABLE DATA; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (1, 0, 0, 0, '\x4b6af4147b876a68c6232f7b63a49a2301c6ec935ef793d867650ff9142e9e96', '\x');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (1, 0, 0, 1, '\xfcde041bc0bec56eafb3a1f7f8aaa8199c1720d3a87a2e4e0f870aa0a874b305', '\x2edc0a16ad7efcd79b45b588b4d5fcb31a490ca6704caa36594eceb631dd01a2');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (1, 0, 0, 2, '\x77c223061e99f705d6ed51b70e64868a14b4a9b13e45218da754f806f233e2a0', '\x');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (1, 0, 0, 3, '\xacad6f15e4c361e6135dd404fda84e945624fa2903c99117fb50ec6ccebcb4dc', '\xb056443cb2408a6a57bcc8a0183aa9da958d51b7b9b1b337ae7ddacd0ab895be68463423b76e8de158085797b5375c59196d9e7283d419ed41cecdca070942c4');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (1, 0, 0, 4, '\x327728d03fde2c3f00954324fcb88a8e0625c61ac3ad9a848b6a66b1ead5f735', '\x');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (1, 0, 0, 5, '\x85fe985d61a704ca8f97b5b1a231cc531936bb93d9b229ba257ab5ad81d4c921', '\x454da56c36661d71c6b059789b93df1bb978b78cc16047803c28d6ed2d0a20be');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (1, 0, 0, 6, '\x44393eb8af06c2a57b543f8e479bd4f7a2364477ce0b95a539371a23e8ab9f8b', '\x');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (1, 0, 0, 7, '\x5e29576309041dc8c9c31fb3d61b5048c7cc5e6653241aa53f82a221cc996484', '\x42c4c5f876fe559ef47fab22195ee397b068fa3b6a6881e81567911e9161ad8a1333d8661c62222f7a9c06362e992a2f983272d3df764a05b5be60ea078342147a893c05437da0e17d39441236173c9a08a7236203a2bcfbe4b1a1ca728e05db');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (1, 0, 0, 8, '\x9173204e4926511cb4ef734c43e18cb2b85ccfe3c8e9747e6016a5e766d11468', '\x');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (1, 0, 0, 9, '\x6f787437bb001748e2762482f8fd12b3d638895821d4a3954cca3698f0eb62dc', '\xb9e3c1497922a3ed425373d6fe8dbb105bbc16356b07cc3a28d575ecf728864d');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (2, 0, 0, 0, '\xb182dd1defdbefca57757f0cf4a748ff29b8c3c5e834ca4799bd84b7b5870996', '\x');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (2, 0, 0, 1, '\xb8f1235c70e2ce6d9154d929f32670dc0b06ab3c798097db20865657c55884bb', '\x49c1dab402317391a65d263df6314485c2789ceeedf184a0e4919a36c493aa86');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (2, 0, 0, 2, '\xe7c233dbd57e9a53c561ec4f4f28fbf7e6550d82459d5796c902782fed732561', '\x');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (2, 0, 0, 3, '\x0921b62313df78695d8c340888a208818d5ac411434d44273fa0d26828d7a721', '\xf76021761558d7e6273065a809bd427ab65d43fdfdc0d0aea374ee7c0c1cbf5d8e0f668a79f5983058adfad498ef1de462d46bace31146f038d3c43c5902ba8b');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (2, 0, 0, 4, '\xfcb1aaa64cceb7d938acda071d435cc135d93bc040c34059b650c7ba2f6cf9cb8830934cf7724183179746cb763cc79a6e9bb9170ba87cb1d6a3b3e41245cde72418c9cf303b26aa96df5b144cce15c551bb72f0e03265b1434d9b65e5504279', '\x0c6c42a0c45a6e97e47229f1c107f1859712b87760daf1cd294e291745e35e23');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (2, 0, 0, 7, '\xabce9d7ed8d77c46b43298369c0be9ed57c9fe5c8494ef68d16f1f2d09532f5c', '\xf8ce73f484c61399a67eba1bcd468296510215db793435f720ea0d6b8f2f7b1239f5a7d95483d5616d9d87f3865ebbe814b9cf89b4ebb6c77b3641e21b516767970ad69126f3acfb5f13edb882ce1a2bb250f39f7860265aeffb6e43d0d11374');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (2, 0, 0, 8, '\xd2209dde25a1d925bf1573d79ecd72436897b2128e1b0d785e58bf02664bf168', '\x');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (2, 0, 0, 9, '\xd316426e147e34d8a85cf34b45088acb5599a4b67687126c001e08eca0339786', '\x903d0d294de72953bba74c15144257095dc916fb42baa48c8a93fad3dac0675e');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (2, 0, 0, 10, '\x30e018c3cb885cd4f4881505617eaceadea2fb2e372a585a2cc92ddc117d6d4c7a143b1572e694750483e5d0fef5b974dca6fcc2ff6be774f637beec44f634d1db8014afcdc1450a10b96fe3c3401c19c6a8d94ff21034b2bd60762fc471b03e', '\x5562c036fbd7939c49084945cb7c1dabdb211006f15aad6e5624aeb9c5764d32f98864279c33d5a2adac3a4ce62e5d593b97be083000bdbe1fbb89d80806f4e0');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (2, 0, 0, 13, '\x9554240173f1dad5c0d6a4cd32c91c9c0ec752d85026db6c8b61f8cb099c0ac8', '\x6fe6c966b376480b4583ffe68a94524489497b4e9b19cb387c5e4a743481b21b');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (1, 0, 0, 10, '\x74ab54e377606fa03edf715c5ebb2d597ca58411b201e3df2f3bd602bed530e1', '\x');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (2, 0, 0, 14, '\xe494f51629286afc069566d10a5989821b37003d9fede5362954e7ef467f74ef', '\x');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (2, 0, 0, 15, '\xba464c33e759e4913e9fec1291dd3560b746fe636e902c24054b85d8238d58ccba3805398473db13dc73ea9b68bbe020d4fb8428076f7d6f89fa57a8bbc7d4c9bababf9359720dd1d2429a9aa73fec62f5a75d1de7b1260b58b8edab8f151fbd', '\x844a24c64b7143ea499dfa3e1811e203579814cd2ef33dc307ae3311e4902e9e32ba624f3050064b4b2a231925361d5ec5a34e10785818be0ab9eac386ca43a4bf25654307937bac6a7e6ebce185af8522195e599ae9248f9a7db98a2dd53840c434f97f5b1f7d35af870bbbe33314ddc2cf4941fb3d7958e250b4d8e86a1647e3ca2c82e73fc02377681ae42989e6f876ea25f6600e3e85d641f0c5868f4520');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (2, 0, 0, 18, '\xe4c111383dd5dcf51aa3fe67a97f1c5a4ebdd203a124d04c638d18012dfa0b85', '\x');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (2, 0, 0, 19, '\xb831956aff25435a852b8236680b315293157242703ceac5d45664016be3a7b6', '\x6ac3a40097789b9020abf7575bcd6d428522737f4c051a404baaf3e66d260376c24e72f3a3883a9057afee8d0a5ffb722b0b30c6860d52158a2fed2c84d4f436');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (2, 0, 0, 20, '\xba73f4ec64ab2ea388c0b305467b0f5e0533738f536f251aea47859f663e50ca', '\x');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (2, 0, 0, 21, '\xd4164acf520de83a96ce33707c7deb7f630b1e96020a56b927abbeec0aa5c0be', '\x5b3fd4715671a46fc6cb6f351c22b2df0b70b5c889601a8d0c479c1ebf397efb');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (2, 0, 0, 22, '\x7ac2c9edbc9e11d06c6fca4d3d1b3c044d19f896fdadfca0afa02660a7c4f85a', '\x');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (2, 0, 0, 23, '\x8e3eb97510452845287ec7fad528dd1e82ff3956485c272c6dbfe506a324d69177369daa55cde1836f60d1cb69c5d74ba727b2939d513cfac1a74c7ae95b11138a3d84566cd7266fee8c9d51b472fdc4070b4fc900b214b570a3337d5c6856f8', '\xe888e7824aab52e2afcbcdf48f2301d4f3f8f4e72f7d47ff15f28fa28d2a986b1fa0a6bfa55a6e1439b56dbe3472a3c670ad847c3cf8d34a7c5a09a3ac82349a7ae178b306c70d81fadaecf23ca14f2199c99d26301cafe3184090272c76d614cd7561da8bcbebd8d56640c505a3f67da502a45d80edaa224dfc69d92ba68cff');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (2, 0, 0, 26, '\x9a737c1451d0b0f0191eb135ec91b528c902e0b5abf303a08488341231965cce9fb5dc8d00e755f5847fc77188352511b2983b3b61b54eb6f490fcb745d3e661c809ff0ec7c1af60dc1188d240d084bb62d5f1733a293b765493a436f7b52ec229453a07f469a3d3d253c88f4739f00c6092f08e349228516daabb829a2b1287ef3d7ab44f936a0a58ec818e1585eabe7cd330cf8cdaf043ccdf170e617d0885cb0d26c401fc07f00c88ae20fa2d0e0174c87ea68392eba9eaf2526e371d083007c12f9791b01d5dda2feb0d028feca86a53e0d69c28139350403a7193d43bbf', '\x52372f4390f2d0efe8df908f94f6162b35f061311b5662f1949184250408c3a3cfaf1d8ea4539226c3585bebea14fb368b62bb770e81690df65d97108f4d0c12d4fd6d62221f58181adbc8c8018ef200c2b9b2771a42ce1f4c26f22fba0e398aa82b223241922900cafa3f7c7e903fc71c557fa92dd02c13202d4a18d6357c49e75d8650e3c404844c19e1922842a0eb961b76acd2cb2cc171a002cd489916a258482e48a4114ee1916c6ccdcf5b7a5ebae8355382d1100a9f1257836967777de26dcaf01a3ef6e688f92f5ee06c9768258e51ecb8af5732f9ddbc0eff67213cac2960d9792b2e7b366d5367929561a4fdbbf10c38871fa878f69622f56cd089');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (2, 0, 0, 33, '\xe6be7ccf53198c33882ff6335a40c94bc9bc5e60eec8022164ea62aac8725930', '\xfc4a1b9a06bd1b15a4ea5f412acb3d080e2a0fb2d51cb01fb0125bd336c3d62b');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (2, 0, 0, 34, '\x18c9d739b271393071a667d10ba2f113e2c65835a4a263c3e140e43be6c2455f3a61834f39eee658d781a6835c570719a9fd382f9820597ddaac51c4cabacc975f122753c2eac3ddf0ee74eeeb43d5436e8ce8afa2018b5430d9b06094c1411a', '\x38a81122cca9a176be8b9405822b84e6abfd4578f5662492056adc8c63cbcb4b362e387d089b7a4e53f699f3c7cf2f035717f0b9784fdc36e344eed7cc0172dd');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (2, 0, 0, 37, '\xc0c3b27a52b827c060671475bba61f7f8dd4776fbc29fdfadfcea122a9639061', '\x5cf3236fbb890731401eeb16175ac57ce0d8ff914344af50185fdbdadcba4c42');
INSERT INTO writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles VALUES (2, 0, 0, 38, '\xa05f8f485621701800ed30284eceb0d1faf93f8e32bc44b45551d15cc13e1809a7fb78bf746248c567558f475c12bf4d8e7638eacf74c50f9e7c3e765ff3fef51273ef8ec29891b42aadd3e0b4e8dfb33771bc33137c3bca031436803801458b', '\xcc4f468e82ca764d4acbd40c451e31c64d40d01a9babdf6322af4571c36a5d262cb06566dc4e45bf0673099a21388661d270333e19bf4b4164102857068b202692ce180d336029bab309554cada6e49840f1df87bf7799b0a487ed3654847a95');


--
-- Name: checkpoints checkpoints_pkey; Type: CONSTRAINT; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

ALTER TABLE ONLY writ_908b9093_885f_46ea_94f3_8ab8400705ce.checkpoints
    ADD CONSTRAINT checkpoints_pkey PRIMARY KEY (stream, size);


--
-- Name: facts facts_pkey; Type: CONSTRAINT; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

ALTER TABLE ONLY writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts
    ADD CONSTRAINT facts_pkey PRIMARY KEY (stream, seq);


--
-- Name: heads heads_pkey; Type: CONSTRAINT; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

ALTER TABLE ONLY writ_908b9093_885f_46ea_94f3_8ab8400705ce.heads
    ADD CONSTRAINT heads_pkey PRIMARY KEY (stream);


--
-- Name: keys keys_pkey; Type: CONSTRAINT; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

ALTER TABLE ONLY writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (stream, key);


--
-- Name: ledger ledger_pkey; Type: CONSTRAINT; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

ALTER TABLE ONLY writ_908b9093_885f_46ea_94f3_8ab8400705ce.ledger
    ADD CONSTRAINT ledger_pkey PRIMARY KEY (one);


--
-- Name: marks marks_pkey; Type: CONSTRAINT; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

ALTER TABLE ONLY writ_908b9093_885f_46ea_94f3_8ab8400705ce.marks
    ADD CONSTRAINT marks_pkey PRIMARY KEY (stream);


--
-- Name: streams streams_name_key; Type: CONSTRAINT; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

ALTER TABLE ONLY writ_908b9093_885f_46ea_94f3_8ab8400705ce.streams
    ADD CONSTRAINT streams_name_key UNIQUE (name);


--
-- Name: streams streams_pkey; Type: CONSTRAINT; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

ALTER TABLE ONLY writ_908b9093_885f_46ea_94f3_8ab8400705ce.streams
    ADD CONSTRAINT streams_pkey PRIMARY KEY (stream);


--
-- Name: terms terms_pkey; Type: CONSTRAINT; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

ALTER TABLE ONLY writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms
    ADD CONSTRAINT terms_pkey PRIMARY KEY (stream, field, value, seq);


--
-- Name: tiles tiles_pkey; Type: CONSTRAINT; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

ALTER TABLE ONLY writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles
    ADD CONSTRAINT tiles_pkey PRIMARY KEY (stream, level, tile, start);


--
-- Name: checkpoints checkpoints_behind; Type: TRIGGER; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE TRIGGER checkpoints_behind BEFORE INSERT ON writ_908b9093_885f_46ea_94f3_8ab8400705ce.checkpoints FOR EACH ROW EXECUTE FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.checkpoint_behind();

ALTER TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.checkpoints ENABLE ALWAYS TRIGGER checkpoints_behind;


--
-- Name: checkpoints checkpoints_refuse; Type: TRIGGER; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE TRIGGER checkpoints_refuse BEFORE DELETE OR UPDATE OR TRUNCATE ON writ_908b9093_885f_46ea_94f3_8ab8400705ce.checkpoints FOR EACH STATEMENT EXECUTE FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.refuse();

ALTER TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.checkpoints ENABLE ALWAYS TRIGGER checkpoints_refuse;


--
-- Name: facts facts_behind; Type: TRIGGER; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE TRIGGER facts_behind AFTER INSERT ON writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts_behind();

ALTER TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts ENABLE ALWAYS TRIGGER facts_behind;


--
-- Name: facts facts_refuse; Type: TRIGGER; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE TRIGGER facts_refuse BEFORE DELETE OR UPDATE OR TRUNCATE ON writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts FOR EACH STATEMENT EXECUTE FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.refuse();

ALTER TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts ENABLE ALWAYS TRIGGER facts_refuse;


--
-- Name: heads heads_forward; Type: TRIGGER; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE TRIGGER heads_forward BEFORE UPDATE ON writ_908b9093_885f_46ea_94f3_8ab8400705ce.heads FOR EACH ROW EXECUTE FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.head_forward();

ALTER TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.heads ENABLE ALWAYS TRIGGER heads_forward;


--
-- Name: heads heads_refuse; Type: TRIGGER; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE TRIGGER heads_refuse BEFORE DELETE OR TRUNCATE ON writ_908b9093_885f_46ea_94f3_8ab8400705ce.heads FOR EACH STATEMENT EXECUTE FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.refuse();

ALTER TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.heads ENABLE ALWAYS TRIGGER heads_refuse;


--
-- Name: keys keys_refuse; Type: TRIGGER; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE TRIGGER keys_refuse BEFORE DELETE OR UPDATE OR TRUNCATE ON writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys FOR EACH STATEMENT EXECUTE FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.refuse();

ALTER TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys ENABLE ALWAYS TRIGGER keys_refuse;


--
-- Name: ledger ledger_refuse; Type: TRIGGER; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE TRIGGER ledger_refuse BEFORE DELETE OR UPDATE OR TRUNCATE ON writ_908b9093_885f_46ea_94f3_8ab8400705ce.ledger FOR EACH STATEMENT EXECUTE FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.refuse();

ALTER TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.ledger ENABLE ALWAYS TRIGGER ledger_refuse;


--
-- Name: streams streams_refuse; Type: TRIGGER; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE TRIGGER streams_refuse BEFORE DELETE OR UPDATE OR TRUNCATE ON writ_908b9093_885f_46ea_94f3_8ab8400705ce.streams FOR EACH STATEMENT EXECUTE FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.refuse();

ALTER TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.streams ENABLE ALWAYS TRIGGER streams_refuse;


--
-- Name: tiles tiles_longer; Type: TRIGGER; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE TRIGGER tiles_longer BEFORE INSERT ON writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles FOR EACH ROW EXECUTE FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.tile_longer();

ALTER TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles ENABLE ALWAYS TRIGGER tiles_longer;


--
-- Name: tiles tiles_refuse; Type: TRIGGER; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

CREATE TRIGGER tiles_refuse BEFORE DELETE OR UPDATE OR TRUNCATE ON writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles FOR EACH STATEMENT EXECUTE FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.refuse();

ALTER TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles ENABLE ALWAYS TRIGGER tiles_refuse;


--
-- Name: SCHEMA writ_908b9093_885f_46ea_94f3_8ab8400705ce; Type: ACL; Schema: -; Owner: keeper
--

GRANT USAGE ON SCHEMA writ_908b9093_885f_46ea_94f3_8ab8400705ce TO writ_appender;


--
-- Name: FUNCTION append(p_name text, p_origin text, p_size bigint, p_epoch bigint, p_holder uuid, p_facts text, p_chains bytea, p_keys text, p_levels integer[], p_tiles bigint[], p_starts integer[], p_hashes bytea[], p_nodes bytea[], p_note text, p_keep boolean); Type: ACL; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

REVOKE ALL ON FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.append(p_name text, p_origin text, p_size bigint, p_epoch bigint, p_holder uuid, p_facts text, p_chains bytea, p_keys text, p_levels integer[], p_tiles bigint[], p_starts integer[], p_hashes bytea[], p_nodes bytea[], p_note text, p_keep boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.append(p_name text, p_origin text, p_size bigint, p_epoch bigint, p_holder uuid, p_facts text, p_chains bytea, p_keys text, p_levels integer[], p_tiles bigint[], p_starts integer[], p_hashes bytea[], p_nodes bytea[], p_note text, p_keep boolean) TO writ_appender;


--
-- Name: FUNCTION checkpoint_behind(); Type: ACL; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

REVOKE ALL ON FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.checkpoint_behind() FROM PUBLIC;


--
-- Name: FUNCTION facts_behind(); Type: ACL; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

REVOKE ALL ON FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts_behind() FROM PUBLIC;


--
-- Name: FUNCTION first_at(p_stream integer, p_size bigint, p_moment text); Type: ACL; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

REVOKE ALL ON FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.first_at(p_stream integer, p_size bigint, p_moment text) FROM PUBLIC;
GRANT ALL ON FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.first_at(p_stream integer, p_size bigint, p_moment text) TO writ_appender;


--
-- Name: FUNCTION follow(p_stream integer, p_from bigint, p_to bigint, p_fields smallint[], p_values text[], p_seqs bigint[]); Type: ACL; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

REVOKE ALL ON FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.follow(p_stream integer, p_from bigint, p_to bigint, p_fields smallint[], p_values text[], p_seqs bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.follow(p_stream integer, p_from bigint, p_to bigint, p_fields smallint[], p_values text[], p_seqs bigint[]) TO writ_appender;


--
-- Name: FUNCTION head_forward(); Type: ACL; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

REVOKE ALL ON FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.head_forward() FROM PUBLIC;


--
-- Name: FUNCTION open_tiles(p_stream integer, p_size bigint, OUT levels integer[], OUT tiles double precision[], OUT hashes bytea[], OUT nodes bytea[]); Type: ACL; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

REVOKE ALL ON FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.open_tiles(p_stream integer, p_size bigint, OUT levels integer[], OUT tiles double precision[], OUT hashes bytea[], OUT nodes bytea[]) FROM PUBLIC;
GRANT ALL ON FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.open_tiles(p_stream integer, p_size bigint, OUT levels integer[], OUT tiles double precision[], OUT hashes bytea[], OUT nodes bytea[]) TO writ_appender;


--
-- Name: FUNCTION refuse(); Type: ACL; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

REVOKE ALL ON FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.refuse() FROM PUBLIC;


--
-- Name: FUNCTION take_turn(p_names text[], p_holder uuid, p_known text[], p_sizes bigint[]); Type: ACL; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

REVOKE ALL ON FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.take_turn(p_names text[], p_holder uuid, p_known text[], p_sizes bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.take_turn(p_names text[], p_holder uuid, p_known text[], p_sizes bigint[]) TO writ_appender;


--
-- Name: FUNCTION tile_longer(); Type: ACL; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

REVOKE ALL ON FUNCTION writ_908b9093_885f_46ea_94f3_8ab8400705ce.tile_longer() FROM PUBLIC;


--
-- Name: TABLE checkpoints; Type: ACL; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

GRANT SELECT ON TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.checkpoints TO writ_appender;


--
-- Name: TABLE facts; Type: ACL; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

GRANT SELECT ON TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.facts TO writ_appender;


--
-- Name: TABLE heads; Type: ACL; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

GRANT SELECT ON TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.heads TO writ_appender;


--
-- Name: TABLE keys; Type: ACL; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

GRANT SELECT ON TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.keys TO writ_appender;


--
-- Name: TABLE ledger; Type: ACL; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

GRANT SELECT ON TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.ledger TO writ_appender;


--
-- Name: TABLE marks; Type: ACL; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

GRANT SELECT ON TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.marks TO writ_appender;


--
-- Name: TABLE streams; Type: ACL; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

GRANT SELECT ON TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.streams TO writ_appender;


--
-- Name: TABLE terms; Type: ACL; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

GRANT SELECT ON TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.terms TO writ_appender;


--
-- Name: TABLE tiles; Type: ACL; Schema: writ_908b9093_885f_46ea_94f3_8ab8400705ce; Owner: keeper
--

GRANT SELECT ON TABLE writ_908b9093_885f_46ea_94f3_8ab8400705ce.tiles TO writ_appender;


--
-- PostgreSQL database dump complete
--


