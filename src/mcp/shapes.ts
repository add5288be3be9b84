/** What tools take and answer with, as schemas. */
import * as Type from 'typebox'

const closed = { additionalProperties: false } as const

const Text = (says: string, maxLength: number) =>
  Type.String({ description: says, minLength: 1, maxLength })

const PATH_MAX = 4_096
/** One argument of a program has at most 128 KiB; three bytes a character at most. */
const EDIT_MAX = 32_000
const CONTENT_MAX = 2_000_000
const LIST_MAX = 200

const Path = Text('absolute, or relative to the workspace', PATH_MAX)
const Globs = (says: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: PATH_MAX }), {
      description: says,
      maxItems: LIST_MAX,
    }),
  )
const AnyObject = (says: string) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', description: says })

export const ActionId = Type.Object(
  { action_id: Text('the id of one of your actions', 128) },
  closed,
)

export const INPUTS = {
  proposal: Type.Object(
    {
      proposal: AnyObject('a proposal_v1 document: `descriptor` and `operation` or `children`'),
      dry_run: Type.Optional(
        Type.Boolean({ description: 'rehearse and decide; record and change nothing' }),
      ),
    },
    closed,
  ),
  command: Type.Object(
    {
      argv: Type.Array(Type.String({ maxLength: 131_072 }), {
        description: 'the program and its arguments; no shell splits them',
        minItems: 1,
        maxItems: 1_000,
      }),
      cwd: Type.Optional(Path),
      writes: Globs(
        'what it may create or change; with neither list a person approves the effects',
      ),
      deletes: Globs('what it may delete'),
      hosts: Globs('hosts that it may reach; none without it'),
      seconds: Type.Optional(
        Type.Integer({
          description: 'how long it may run; 600 without it',
          minimum: 1,
          maximum: 3_600,
        }),
      ),
    },
    closed,
  ),
  write: Type.Object(
    { path: Path, content: Type.String({ description: 'the whole text', maxLength: CONTENT_MAX }) },
    closed,
  ),
  edit: Type.Object(
    {
      path: Path,
      old_text: Text('text that is in the file once', EDIT_MAX),
      new_text: Type.String({ description: 'what takes its place', maxLength: EDIT_MAX }),
      replace_all: Type.Optional(Type.Boolean({ description: 'replace each occurrence' })),
    },
    closed,
  ),
  remove: Type.Object(
    {
      path: Path,
      recursive: Type.Optional(
        Type.Boolean({ description: 'a directory with everything in it; a file without it' }),
      ),
    },
    closed,
  ),
  status: Type.Object(
    {
      action_id: ActionId.properties.action_id,
      wait_seconds: Type.Optional(
        Type.Integer({
          description: 'wait so long for the answer of a person; 0 without it',
          minimum: 0,
          maximum: 300,
        }),
      ),
    },
    closed,
  ),
  list: Type.Object(
    { limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIST_MAX })) },
    closed,
  ),
  undo: Type.Object(
    {
      action_id: ActionId.properties.action_id,
      reason: Text('why it should be taken back, for the person who answers', 1_000),
    },
    closed,
  ),
  document: Type.Object(
    {
      document: Type.Unsafe<unknown>({ description: 'any JSON value' }),
      as: Type.Optional(Text('the contract; found out without it', 128)),
    },
    { ...closed, required: ['document'] },
  ),
  rules: Type.Object(
    {
      rulesets: Type.Array(AnyObject('a ruleset'), { minItems: 1, maxItems: LIST_MAX }),
      inputs: AnyObject('values by name'),
      at: Type.Optional(Type.Integer({ minimum: 0, maximum: 8.64e15 })),
    },
    closed,
  ),
}

const nullable = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()])

const Violation = Type.Object({
  code: Type.String(),
  path: Type.String(),
  message: Type.String(),
})

/** A question that a person answers; no tool does. */
const Question = Type.Object({
  id: Type.String(),
  expires_at: Type.String(),
  /** How a person answers. */
  answer: Type.String(),
})

const Action = Type.Object({
  says: Type.String({ description: 'what happened and what to do next' }),
  action_id: Type.String(),
  status: Type.String(),
  decision: nullable(Type.String()),
  codes: Type.Array(Type.String()),
  at: nullable(Type.String()),
  effects: Type.Object({
    added: Type.Integer(),
    modified: Type.Integer(),
    deleted: Type.Integer(),
    paths: Type.Array(Type.String()),
  }),
  exit_code: nullable(Type.Integer()),
  stdout: Type.String(),
  stderr: Type.String(),
  question: nullable(Question),
  violations: Type.Array(Violation),
})

export type ActionView = Type.Static<typeof Action>

export const OUTPUTS = {
  action: Action,
  actions: Type.Object({
    actions: Type.Array(
      Type.Object({
        action_id: Type.String(),
        status: Type.String(),
        at: Type.String(),
        what: Type.String(),
      }),
    ),
  }),
  undo: Type.Object({ says: Type.String(), action_id: Type.String(), question: Question }),
  checked: Type.Object({
    valid: Type.Boolean(),
    contract: nullable(Type.String()),
    violations: Type.Array(Violation),
  }),
  verdicts: Type.Object({ verdicts: Type.Array(Type.Unsafe<unknown>({})) }),
  explanation: Type.Object({
    action_id: Type.String(),
    explanation: AnyObject(
      'reasons, laws with the values that they read, and what a person can do',
    ),
  }),
}
