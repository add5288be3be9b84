/**
 * What a home keeps in PostgreSQL besides its facts, as SQL: bodies, in pieces under their digest,
 * and small files that every machine of the home needs. Only functions write, as with the facts.
 *
 * INVARIANT (true): a body whose pieces are complete has the digest that it lies under, or is refused.
 * INVARIANT (told before it goes): a body is dropped only after a fact that says so. The server cannot
 *   check signatures: who forges such a fact is found out by the next writer and by verification.
 * INVARIANT (kept): a file is never changed. A new version lies next to the older ones, with the signature
 *   of the machine that wrote it; `HomeFiles` reads the newest that a machine of the home has signed.
 */

/** SQLSTATE of our own: a guard refused. */
export const REFUSED = 'WR002'

export interface Table {
  readonly columns: string
  readonly key: string
}

export interface Trigger {
  readonly table: string
  readonly when: string
  readonly runs: string
}

export interface Routine {
  readonly head: string
  readonly body: string
  /** Appenders may run it. */
  readonly open?: true
}

export const HOME_TABLES: Readonly<Record<string, Table>> = {
  bodies: {
    columns:
      'digest text COLLATE "C", piece integer, pieces integer NOT NULL, bytes bytea NOT NULL',
    key: 'digest, piece',
  },
  files: {
    columns:
      'name text COLLATE "C", content text NOT NULL, version integer, signer text NOT NULL,' +
      ' sig text NOT NULL',
    key: 'name, version',
  },
  // Processes that take jobs. `ids` are the names under which the engine of jobs knows them.
  workers: {
    columns:
      'worker uuid, machine text NOT NULL, labels text[] NOT NULL, version text NOT NULL,' +
      ' ids text[] NOT NULL, since timestamptz NOT NULL',
    key: 'worker',
  },
}

export const HOME_TRIGGERS: Readonly<Record<string, Trigger>> = {
  bodies_refuse: {
    table: 'bodies',
    when: 'BEFORE UPDATE OR TRUNCATE ON @.bodies FOR EACH STATEMENT',
    runs: 'refuse',
  },
  files_refuse: {
    table: 'files',
    when: 'BEFORE UPDATE OR DELETE OR TRUNCATE ON @.files FOR EACH STATEMENT',
    runs: 'refuse',
  },
}

/** The idempotency key of the fact that a body goes, without which none does. */
export function bodyDropName(digest: string): string {
  return `body-dropped/${digest.slice('sha256:'.length)}`
}

/** `@` is replaced with the name of the ledger's schema. */
export const HOME_ROUTINES: Readonly<Record<string, Routine>> = {
  put_body: {
    head: '(p_digest text, p_piece integer, p_pieces integer, p_bytes bytea) RETURNS void',
    body: `BEGIN
      IF p_piece < 0 OR p_piece >= p_pieces OR p_digest !~ '^sha256:[0-9a-f]{64}$' THEN
        RAISE EXCEPTION 'this is no piece of a body' USING ERRCODE = '${REFUSED}';
      END IF;
      INSERT INTO @.bodies VALUES (p_digest, p_piece, p_pieces, p_bytes) ON CONFLICT DO NOTHING;
      IF (SELECT count(*) FROM @.bodies WHERE digest = p_digest) = p_pieces
        AND p_digest <> 'sha256:' || encode((SELECT sha256(string_agg(bytes, '' ORDER BY piece))
          FROM @.bodies WHERE digest = p_digest), 'hex')
      THEN
        RAISE EXCEPTION 'the body has other contents than its name says' USING ERRCODE = '${REFUSED}';
      END IF;
    END`,
    open: true,
  },
  drop_body: {
    head: '(p_digest text) RETURNS boolean',
    body: `BEGIN
      IF NOT EXISTS (SELECT FROM @.streams s
          JOIN @.keys k ON k.stream = s.stream AND k.key = 'body-dropped/' || substr(p_digest, 8)
          JOIN @.facts f ON f.stream = k.stream AND f.seq = k.seq
        WHERE f.fact::json #>> '{record,type}' = 'body_dropped_v1'
          AND f.fact::json #>> '{record,payload,body}' = p_digest)
      THEN
        RAISE EXCEPTION 'no fact says that the body % goes', p_digest USING ERRCODE = '${REFUSED}';
      END IF;
      DELETE FROM @.bodies WHERE digest = p_digest;
      RETURN FOUND;
    END`,
    open: true,
  },
  put_worker: {
    head: '(p_worker uuid, p_machine text, p_labels text[], p_version text, p_ids text[]) RETURNS void',
    body: `BEGIN
      INSERT INTO @.workers VALUES (p_worker, p_machine, p_labels, p_version, p_ids, now())
        ON CONFLICT (worker) DO UPDATE SET ids = excluded.ids;
    END`,
    open: true,
  },
  drop_worker: {
    head: '(p_worker uuid) RETURNS void',
    body: `BEGIN
      DELETE FROM @.workers WHERE worker = p_worker;
    END`,
    open: true,
  },
  // Returns false, and writes nothing, if that is not the number of the next version.
  put_file: {
    head: `(p_name text, p_version integer, p_content text, p_signer text, p_sig text)
      RETURNS boolean`,
    body: `BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended('@/file/' || p_name, 0));
      INSERT INTO @.files SELECT p_name, p_content, p_version, p_signer, p_sig
        WHERE p_version = (SELECT coalesce(max(version), 0) + 1 FROM @.files WHERE name = p_name);
      RETURN FOUND;
    END`,
    open: true,
  },
}
