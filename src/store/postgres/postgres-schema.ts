/**
 * A ledger in PostgreSQL as SQL: one schema of tables, triggers that refuse to change written rows, and
 * functions that are the only way to write. They stop mistakes and appenders, not the owner of the
 * database; verification reports a trigger or function that is missing.
 *
 * INVARIANT (no right to change): the appender's role may read, and run the functions. It has no
 * INSERT, UPDATE, DELETE or TRUNCATE on any table; the functions run with the owner's rights.
 * INVARIANT (fenced): `append` holds the head's row, and refuses unless size and epoch are those that
 * the sequencer has seen. The epoch counts changes of sequencer. With the primary key over (stream,
 * seq) in the same transaction a sequencer that slept cannot fork a stream.
 *
 * Tiles only become longer, so they are kept as pieces, one for each commit, that are put together
 * when they are read. Nothing but the head is ever updated.
 */
import type { ClientBase } from 'pg'
import { invariant } from '../../base/index.ts'
import { HOST_STREAM } from '../../ledger/index.ts'
import { KEY_FACT, KEY_FACTS_END } from '../keys/machine-keys.ts'
import {
  HOME_ROUTINES,
  HOME_TABLES,
  HOME_TRIGGERS,
  REFUSED,
  type Routine,
  type Table,
  type Trigger,
} from './home-schema.ts'

/**
 * 1: bodies and credentials lay in the state directory of one machine. 2: files were not signed, and every
 * appender could replace them and drop bodies.
 */
export const POSTGRES_VERSION = 3
/** SQLSTATE of our own: the head has moved on. */
export const FENCED = 'WR001'

const TABLES: Readonly<Record<string, Table>> = {
  ledger: {
    columns: 'one integer CHECK (one = 1), name text NOT NULL, version integer NOT NULL',
    key: 'one',
  },
  streams: {
    columns: 'stream integer, name text COLLATE "C" NOT NULL UNIQUE, origin text NOT NULL',
    key: 'stream',
  },
  facts: {
    columns: 'stream integer, seq bigint, fact text NOT NULL, chain bytea NOT NULL',
    key: 'stream, seq',
  },
  keys: {
    columns: 'stream integer, key text COLLATE "C", seq bigint NOT NULL',
    key: 'stream, key',
  },
  tiles: {
    columns:
      'stream integer, level integer, tile bigint, start integer, hashes bytea NOT NULL,' +
      ' nodes bytea NOT NULL',
    key: 'stream, level, tile, start',
  },
  heads: {
    columns:
      'stream integer, size bigint NOT NULL, epoch bigint NOT NULL, holder uuid NOT NULL,' +
      ' note text NOT NULL',
    key: 'stream',
  },
  checkpoints: {
    columns: 'stream integer, size bigint, note text NOT NULL',
    key: 'stream, size',
  },
  // The query index: it proves nothing and can be made again from the facts.
  terms: {
    columns: 'stream integer, field smallint, value text COLLATE "C", seq bigint',
    key: 'stream, field, value, seq',
  },
  marks: { columns: 'stream integer, size bigint NOT NULL', key: 'stream' },
  ...HOME_TABLES,
}

const WRITE_ONCE = ['ledger', 'streams', 'facts', 'keys', 'tiles', 'checkpoints']

const TRIGGERS: Readonly<Record<string, Trigger>> = {
  ...Object.fromEntries(
    WRITE_ONCE.map((table): [string, Trigger] => [
      `${table}_refuse`,
      {
        table,
        when: `BEFORE UPDATE OR DELETE OR TRUNCATE ON @.${table} FOR EACH STATEMENT`,
        runs: 'refuse',
      },
    ]),
  ),
  heads_refuse: {
    table: 'heads',
    when: 'BEFORE DELETE OR TRUNCATE ON @.heads FOR EACH STATEMENT',
    runs: 'refuse',
  },
  heads_forward: {
    table: 'heads',
    when: 'BEFORE UPDATE ON @.heads FOR EACH ROW',
    runs: 'head_forward',
  },
  facts_behind: {
    table: 'facts',
    when: 'AFTER INSERT ON @.facts REFERENCING NEW TABLE AS added FOR EACH STATEMENT',
    runs: 'facts_behind',
  },
  tiles_longer: {
    table: 'tiles',
    when: 'BEFORE INSERT ON @.tiles FOR EACH ROW',
    runs: 'tile_longer',
  },
  checkpoints_behind: {
    table: 'checkpoints',
    when: 'BEFORE INSERT ON @.checkpoints FOR EACH ROW',
    runs: 'checkpoint_behind',
  },
  ...HOME_TRIGGERS,
}

/** `@` is replaced with the name of the ledger's schema. */
const ROUTINES: Readonly<Record<string, Routine>> = {
  refuse: {
    head: '() RETURNS trigger',
    body: `BEGIN
      RAISE EXCEPTION '% are never changed', TG_TABLE_NAME USING ERRCODE = '${REFUSED}';
    END`,
  },
  head_forward: {
    head: '() RETURNS trigger',
    body: `BEGIN
      IF NEW.stream <> OLD.stream OR NEW.size <= OLD.size OR NEW.epoch < OLD.epoch THEN
        RAISE EXCEPTION 'a head only moves forward' USING ERRCODE = '${REFUSED}';
      END IF;
      RETURN NEW;
    END`,
  },
  // By induction the table has no gaps: behind the last one means that the one in front is there and
  // none follows.
  facts_behind: {
    head: '() RETURNS trigger',
    body: `DECLARE
      run record;
    BEGIN
      FOR run IN SELECT stream, min(seq) AS low, max(seq) AS high, count(*) AS facts
        FROM added GROUP BY stream
      LOOP
        IF run.high - run.low + 1 <> run.facts OR run.low < 0
          OR (run.low > 0 AND NOT EXISTS
            (SELECT FROM @.facts WHERE stream = run.stream AND seq = run.low - 1))
          OR run.high <> (SELECT max(seq) FROM @.facts WHERE stream = run.stream)
        THEN
          RAISE EXCEPTION 'a fact is appended behind the last one of its stream'
            USING ERRCODE = '${REFUSED}';
        END IF;
      END LOOP;
      RETURN NULL;
    END`,
  },
  tile_longer: {
    head: '() RETURNS trigger',
    body: `BEGIN
      IF NEW.start <> coalesce((SELECT max(start + length(hashes) / 32) FROM @.tiles
          WHERE stream = NEW.stream AND level = NEW.level AND tile = NEW.tile), 0)
        OR NEW.start + length(NEW.hashes) / 32 > 256
      THEN
        RAISE EXCEPTION 'a tile only becomes longer' USING ERRCODE = '${REFUSED}';
      END IF;
      RETURN NEW;
    END`,
  },
  checkpoint_behind: {
    head: '() RETURNS trigger',
    body: `BEGIN
      IF NEW.size <= (SELECT max(size) FROM @.checkpoints WHERE stream = NEW.stream) THEN
        RAISE EXCEPTION 'a checkpoint is kept behind the last one of its stream'
          USING ERRCODE = '${REFUSED}';
      END IF;
      RETURN NEW;
    END`,
  },
  // Starts the turn of a sequencer: takes the advisory locks of its streams until its transaction ends.
  // The server grants them in the order of asking. The empty name is the lock for creating streams.
  // Returns each head with the end of its stream. Leaves the end out where the sequencer knows it: it
  // wrote the head last, and names the stream in `p_known` with its size in `p_sizes`. `turned` says
  // whether the host's stream has facts that change keys from the number `p_keys` on.
  take_turn: {
    head: `(p_names text[], p_holder uuid, p_known text[], p_sizes bigint[], p_keys bigint)
      RETURNS TABLE (name text, stream integer, origin text, size float8, epoch float8, holder uuid, note text,
      last_seq float8, last_fact text, last_chain bytea,
      levels integer[], tiles float8[], hashes bytea[], nodes bytea[], turned boolean)`,
    body: `DECLARE
      lock bigint;
    BEGIN
      FOR lock IN SELECT DISTINCT hashtextextended('@/' || one, 0) FROM unnest(p_names) one ORDER BY 1
      LOOP
        PERFORM pg_advisory_xact_lock(lock);
      END LOOP;
      RETURN QUERY SELECT s.name, s.stream, s.origin, h.size::float8, h.epoch::float8, h.holder, h.note,
          last.seq::float8, last.fact, last.chain, e.levels, e.tiles, e.hashes, e.nodes,
          EXISTS (SELECT FROM @.keys k WHERE k.key >= '${KEY_FACT}' AND k.key < '${KEY_FACTS_END}'
            AND k.seq >= p_keys AND k.stream = (SELECT own.stream FROM @.streams own WHERE own.name = '${HOST_STREAM}'))
        FROM @.streams s LEFT JOIN @.heads h ON h.stream = s.stream
          LEFT JOIN LATERAL (SELECT true FROM unnest(p_known, p_sizes) AS k (name, size)
            WHERE k.name = s.name AND k.size = h.size AND h.holder = p_holder) AS known (yes) ON true
          LEFT JOIN LATERAL (SELECT f.seq, f.fact, f.chain FROM @.facts f WHERE f.stream = s.stream
            ORDER BY f.seq DESC LIMIT 1) AS last ON known.yes IS NULL
          LEFT JOIN LATERAL @.open_tiles(s.stream, last.seq + 1) AS e ON last.seq IS NOT NULL
        WHERE s.name = ANY (p_names);
    END`,
    open: true,
  },
  // The open tiles of a tree of that size, their pieces put together.
  open_tiles: {
    head: `(p_stream integer, p_size bigint, OUT levels integer[], OUT tiles float8[],
      OUT hashes bytea[], OUT nodes bytea[]) RETURNS record`,
    body: `BEGIN
      SELECT array_agg(o.level), array_agg(o.tile::float8), array_agg(w.hashes), array_agg(w.nodes)
        INTO levels, tiles, hashes, nodes
        FROM (SELECT l AS level, p_size >> (8 * l) >> 8 AS tile FROM generate_series(0, 6) AS l
            WHERE (p_size >> (8 * l)) % 256 > 0) AS o,
          LATERAL (SELECT string_agg(t.hashes, '' ORDER BY t.start) AS hashes,
              string_agg(t.nodes, '' ORDER BY t.start) AS nodes FROM @.tiles t
            WHERE t.stream = p_stream AND t.level = o.level AND t.tile = o.tile) AS w
        WHERE w.hashes IS NOT NULL;
    END`,
    open: true,
  },
  append: {
    head: `(p_name text, p_origin text, p_size bigint, p_epoch bigint, p_holder uuid, p_facts text,
      p_chains bytea, p_keys text, p_levels integer[], p_tiles bigint[], p_starts integer[],
      p_hashes bytea[], p_nodes bytea[], p_note text, p_keep boolean) RETURNS void`,
    body: `DECLARE
      id integer;
      head @.heads%ROWTYPE;
      added bigint;
    BEGIN
      SELECT stream INTO id FROM @.streams WHERE name = p_name;
      IF id IS NULL THEN
        IF p_size <> 0 THEN
          RAISE EXCEPTION 'there is no such stream' USING ERRCODE = '${FENCED}';
        END IF;
        INSERT INTO @.streams SELECT coalesce(max(stream), 0) + 1, p_name, p_origin FROM @.streams
          RETURNING stream INTO id;
      ELSE
        SELECT * INTO head FROM @.heads WHERE stream = id FOR UPDATE;
        IF head.size IS DISTINCT FROM p_size OR head.epoch IS DISTINCT FROM p_epoch THEN
          RAISE EXCEPTION 'the head has moved' USING ERRCODE = '${FENCED}';
        END IF;
      END IF;
      INSERT INTO @.facts SELECT id, p_size + place - 1, fact,
          substring(p_chains FROM ((place - 1) * 32 + 1)::integer FOR 32)
        FROM string_to_table(p_facts, E'\\n') WITH ORDINALITY AS given (fact, place);
      GET DIAGNOSTICS added = ROW_COUNT;
      INSERT INTO @.keys SELECT id, key, p_size + place - 1
        FROM string_to_table(p_keys, E'\\n') WITH ORDINALITY AS given (key, place) WHERE key <> '';
      INSERT INTO @.tiles SELECT id, given.* FROM unnest(p_levels, p_tiles, p_starts, p_hashes, p_nodes)
        AS given;
      IF head.size IS NULL THEN
        INSERT INTO @.heads VALUES (id, added, p_epoch, p_holder, p_note);
      ELSE
        UPDATE @.heads SET size = p_size + added, holder = p_holder, note = p_note,
          epoch = CASE WHEN holder = p_holder THEN epoch ELSE epoch + 1 END WHERE stream = id;
      END IF;
      IF p_keep THEN
        INSERT INTO @.checkpoints VALUES (id, p_size + added, p_note);
      END IF;
    END`,
    open: true,
  },
  // Facts hold their time at a fixed place, and time never runs backwards.
  first_at: {
    head: '(p_stream integer, p_size bigint, p_moment text) RETURNS bigint',
    body: `DECLARE
      low bigint := 0;
      high bigint := p_size;
      middle bigint;
      moment text;
    BEGIN
      WHILE low < high LOOP
        middle := (low + high) / 2;
        SELECT substr(fact, 66, 24) INTO moment FROM @.facts WHERE stream = p_stream AND seq = middle;
        IF moment COLLATE "C" < p_moment THEN low := middle + 1; ELSE high := middle; END IF;
      END LOOP;
      RETURN low;
    END`,
    open: true,
  },
  follow: {
    head: `(p_stream integer, p_from bigint, p_to bigint, p_fields smallint[], p_values text[],
      p_seqs bigint[]) RETURNS boolean`,
    body: `BEGIN
      INSERT INTO @.marks VALUES (p_stream, 0) ON CONFLICT DO NOTHING;
      UPDATE @.marks SET size = p_to WHERE stream = p_stream AND size = p_from;
      IF NOT FOUND THEN
        RETURN false;
      END IF;
      INSERT INTO @.terms SELECT p_stream, given.* FROM unnest(p_fields, p_values, p_seqs) AS given
        ON CONFLICT DO NOTHING;
      RETURN true;
    END`,
    open: true,
  },
  ...HOME_ROUTINES,
}

const NAME = /^[a-z_][a-z0-9_]{0,62}$/

export function isSqlName(name: string): boolean {
  return NAME.test(name)
}

/** Names of schemas and roles go into SQL as they are. */
export function checkName(name: string): string {
  invariant(isSqlName(name), 'the name of a schema or role is a lower-case identifier')
  return name
}

/** Every statement that makes an empty ledger. `appender` is a role; it is made when missing. */
export function creation(schema: string, appender: string): readonly string[] {
  return [
    `CREATE SCHEMA ${schema}`,
    ...Object.entries(TABLES).map((table) => tableSql(schema, table)),
    ...storages(schema),
    ...Object.entries(ROUTINES).map((routine) => routineSql(schema, routine)),
    ...Object.entries(TRIGGERS).flatMap((trigger) => triggerSql(schema, trigger)),
    ...grants(schema, appender),
  ]
}

/** Every statement that makes this format of an older one. */
export function upgrade(schema: string, appender: string, from: number): readonly string[] {
  return [
    ...(from === 1 ? fromFirst(schema) : fromSecond(schema)),
    ...grants(schema, appender),
    `ALTER TABLE ${schema}.ledger DISABLE TRIGGER ledger_refuse`,
    `UPDATE ${schema}.ledger SET version = ${POSTGRES_VERSION}`,
    `ALTER TABLE ${schema}.ledger ENABLE ALWAYS TRIGGER ledger_refuse`,
  ]
}

function fromFirst(schema: string): readonly string[] {
  return [
    `DROP FUNCTION ${schema}.take_turn(text[], uuid, text[], bigint[])`,
    ...Object.entries(HOME_TABLES).map((table) => tableSql(schema, table)),
    ...storages(schema).slice(1),
    ...routinesSql(schema, ['take_turn', ...Object.keys(HOME_ROUTINES)]),
    ...Object.entries(HOME_TRIGGERS).flatMap((trigger) => triggerSql(schema, trigger)),
  ]
}

/** The files have no signature yet: the machine that upgrades signs them (`HomeFiles.signAll`). */
function fromSecond(schema: string): readonly string[] {
  const added = ['version integer NOT NULL DEFAULT 1', "signer text NOT NULL DEFAULT ''"]
  return [
    `ALTER TABLE ${schema}.files ${[...added, "sig text NOT NULL DEFAULT ''"].map((column) => `ADD ${column}`).join(', ')},
      DROP CONSTRAINT files_pkey, ADD PRIMARY KEY (name, version)`,
    `ALTER TABLE ${schema}.files ALTER version DROP DEFAULT, ALTER signer DROP DEFAULT,
      ALTER sig DROP DEFAULT`,
    `DROP FUNCTION ${schema}.drop_body(text), ${schema}.put_file(text, text),
      ${schema}.take_turn(text[], uuid, text[], bigint[], text)`,
    ...routinesSql(schema, ['drop_body', 'put_file', 'take_turn']),
    ...Object.entries(HOME_TRIGGERS)
      .filter(([name]) => name === 'files_refuse')
      .flatMap((trigger) => triggerSql(schema, trigger)),
  ]
}

function tableSql(schema: string, [name, { columns, key }]: readonly [string, Table]): string {
  return `CREATE TABLE ${schema}.${name} (${columns}, PRIMARY KEY (${key}))`
}

/** Hashes do not become smaller, and neither do pieces of most bodies. */
function storages(schema: string): readonly string[] {
  return [
    `ALTER TABLE ${schema}.tiles ALTER hashes SET STORAGE EXTERNAL, ALTER nodes SET STORAGE EXTERNAL`,
    `ALTER TABLE ${schema}.bodies ALTER bytes SET STORAGE EXTERNAL`,
  ]
}

function routineSql(schema: string, [name, { head, body }]: readonly [string, Routine]): string {
  const manner = `LANGUAGE plpgsql SECURITY DEFINER SET search_path = ${schema}, pg_temp`
  const sql = `CREATE FUNCTION @.${name}${head} ${manner} AS $body$#variable_conflict use_column\n${body}$body$`
  return sql.replaceAll('@', schema)
}

function routinesSql(schema: string, names: readonly string[]): readonly string[] {
  return Object.entries(ROUTINES)
    .filter(([name]) => names.includes(name))
    .map((routine) => routineSql(schema, routine))
}

/** Also in sessions that replicate, where triggers are off otherwise. */
function triggerSql(
  schema: string,
  [name, { table, when, runs }]: readonly [string, Trigger],
): readonly string[] {
  const sql = `CREATE TRIGGER ${name} ${when} EXECUTE FUNCTION @.${runs}()`
  return [
    sql.replaceAll('@', schema),
    `ALTER TABLE ${schema}.${table} ENABLE ALWAYS TRIGGER ${name}`,
  ]
}

function grants(schema: string, appender: string): readonly string[] {
  const open = Object.entries(ROUTINES).filter(([, routine]) => routine.open === true)
  return [
    `DO $do$ BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${appender}') THEN
        CREATE ROLE ${appender} NOLOGIN;
      END IF;
    END $do$`,
    `REVOKE ALL ON ALL FUNCTIONS IN SCHEMA ${schema} FROM PUBLIC`,
    `GRANT USAGE ON SCHEMA ${schema} TO ${appender}`,
    `GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${appender}`,
    ...open.map(([name]) => `GRANT EXECUTE ON FUNCTION ${schema}.${name} TO ${appender}`),
  ]
}

/** Names of tables, guards, functions and rights that are missing, changed, too many or off. */
export async function postgresDifferences(
  client: Pick<ClientBase, 'query'>,
  schema: string,
): Promise<readonly string[]> {
  const found = new Map<string, string>()
  const { rows } = await client.query<{ name: string; text: string }>(DESCRIPTION, [schema])
  for (const { name, text } of rows) found.set(name, text)
  const wanted = description(schema)
  const names = new Set([...wanted.keys(), ...found.keys()])
  return [...names].filter((name) => wanted.get(name) !== found.get(name)).sort()
}

const DESCRIPTION = `
  SELECT t.tgname AS name, c.relname || ' ' || t.tgenabled::text || ' ' || p.proname AS text
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
    WHERE c.relnamespace = $1::regnamespace AND NOT t.tgisinternal
  UNION ALL SELECT proname || '()', prosrc FROM pg_proc WHERE pronamespace = $1::regnamespace
  UNION ALL SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = $1::regnamespace AND contype IN ('p', 'u', 'c')
  UNION ALL SELECT relname, 'table' FROM pg_class
    WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')
  UNION ALL SELECT relname || '_rules', 'rules' FROM pg_class
    WHERE relnamespace = $1::regnamespace AND (relhasrules OR relrowsecurity OR relhassubclass)
  UNION ALL SELECT DISTINCT relname || '_rights', 'rights'
    FROM pg_class, aclexplode(relacl) AS given
    WHERE relnamespace = $1::regnamespace AND given.grantee <> relowner
      AND given.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER')
  UNION ALL SELECT relname || '_owner', 'owner' FROM pg_class, pg_namespace n
    WHERE relnamespace = n.oid AND n.oid = $1::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')
      AND relowner <> n.nspowner
  UNION ALL SELECT DISTINCT member.rolname || '_member', 'member'
    FROM pg_namespace n, pg_class c, aclexplode(c.relacl) AS given, pg_roles member
    WHERE n.oid = $1::regnamespace AND c.relnamespace = n.oid AND c.relname = 'facts'
      AND given.privilege_type = 'SELECT' AND given.grantee NOT IN (0, c.relowner)
      AND NOT member.rolsuper AND member.oid <> n.nspowner
      AND pg_has_role(member.oid, given.grantee, 'MEMBER')
      AND pg_has_role(member.oid, n.nspowner, 'MEMBER')`

function description(schema: string): ReadonlyMap<string, string> {
  const put = (sql: string): string => sql.replaceAll('@', schema)
  return new Map([
    ...Object.keys(TABLES).map((name): [string, string] => [name, 'table']),
    ...Object.entries(TABLES).map(([name, { key }]): [string, string] => [
      `${name}_pkey`,
      `PRIMARY KEY (${key})`,
    ]),
    ['ledger_one_check', 'CHECK ((one = 1))'],
    ['streams_name_key', 'UNIQUE (name)'],
    ...Object.entries(TRIGGERS).map(([name, { table, runs }]): [string, string] => [
      name,
      `${table} A ${runs}`,
    ]),
    ...Object.entries(ROUTINES).map(([name, { body }]): [string, string] => [
      `${name}()`,
      put(`#variable_conflict use_column\n${body}`),
    ]),
  ])
}
