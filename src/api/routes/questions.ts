/** Questions that wait for a human, and the answers of humans. */
import * as Type from 'typebox'
import { route } from '../shape/route.ts'
import {
  closed,
  DecisionDocument,
  Digest,
  Moment,
  nullable,
  Proof,
  ProposalDocument,
  ResultDocument,
} from '../shape/shapes.ts'
import { ACTION_ROUTES } from './actions.ts'

const QuestionId = Type.Object(
  { id: Type.String({ pattern: '^[0-9a-fA-F:a-z-]{4,80}$', 'x-says': 'the id of a question' }) },
  closed,
)

const Approvals = Type.Object(
  {
    needed: Type.Integer(),
    given: Type.Array(Type.Object({ by: Type.String(), at: Moment }, closed)),
    humans: Type.Optional(Type.Integer()),
  },
  closed,
)

const Head = {
  id: Type.String(),
  action_id: Type.String(),
  stream: Type.String(),
  kind: Type.String(),
  asked_by: Type.Object(
    {
      principal: Type.String(),
      kind: Type.String(),
      agent: nullable(Type.String()),
      /** The attempt of a run that did it. */
      run: nullable(
        Type.Object(
          {
            run_id: Type.String(),
            node_id: Type.String(),
            attempt: Type.Integer(),
            participant: Type.String(),
            actor: Type.String(),
          },
          closed,
        ),
      ),
      /** The session of a coding agent whose changes these are. */
      session: nullable(Type.String()),
      at: Moment,
    },
    closed,
  ),
  what: Type.String(),
  /** The actor's own words. */
  intent: Type.String(),
  reasons: Type.Array(Type.Object({ code: Type.String(), words: Type.String() }, closed)),
  risk: Type.Enum(['LOW', 'MEDIUM', 'HIGH', 'CRITICAL']),
  needs: Type.Enum(['plain', 'passphrase', 'passkey']),
  /** What bounds the asker, and who keeps the record. */
  confinement: nullable(Type.String()),
  custody: Type.String(),
  undo_days: nullable(Type.Integer()),
  effects: Type.Object(
    { added: Type.Integer(), modified: Type.Integer(), deleted: Type.Integer() },
    closed,
  ),
  proposal_digest: Digest,
  result_digest: Digest,
  asked_at: Moment,
  expires_at: Moment,
  approvals: nullable(Approvals),
  /** Questions of one shape are alike: of one kind, reason and need. */
  shape: Digest,
}

const QuestionHead = Type.Object(Head, closed)

const Change = Type.Object(
  {
    path: Type.String(),
    change: Type.String(),
    /** What it is, or was where it is deleted: `file`, `directory`, `symlink`… */
    kind: Type.String(),
    deferred: Type.Boolean(),
  },
  closed,
)

const WholeQuestion = Type.Object(
  {
    ...Head,
    proposal: ProposalDocument,
    result: ResultDocument,
    decision: DecisionDocument,
    changes: Type.Array(Change),
    /** Whether a part can be approved by itself. */
    has_parts: Type.Boolean(),
    /** What `always` would grant: the agent may create and change these files, for so long and so often. */
    always: nullable(
      Type.Object(
        {
          agent: Type.String(),
          glob: Type.String(),
          days: Type.Integer(),
          acts: Type.Integer(),
        },
        closed,
      ),
    ),
  },
  closed,
)

/** A path before or after; the text is null where it is binary, not kept, or no file. */
const ShownSide = nullable(
  Type.Object(
    {
      kind: Type.String(),
      mode: Type.String(),
      bytes: Type.Integer(),
      target: nullable(Type.String()),
      text: nullable(Type.String()),
      /** `cut`: the beginning of a longer text. `changed`: not the file that the run saw, or not kept. */
      note: nullable(Type.Enum(['binary', 'cut', 'changed'])),
      /** A picture as a `data:` address; null for everything else. */
      image: nullable(Type.String()),
      /** The first bytes of what is neither text nor picture, in hex; null for everything else. */
      hex: nullable(Type.String()),
    },
    closed,
  ),
)

const PartOfQuestion = Type.Object(
  {
    result_digest: Digest,
    effects: Head.effects,
    risk: Head.risk,
    needs: Head.needs,
    reasons: Head.reasons,
    decision: DecisionDocument,
    changes: Type.Array(Change),
    /** What the question would promote and this part does not. */
    left: Type.Array(Type.String()),
  },
  closed,
)

/** What became of actions that are similar to a question, the newest first. */
const Similar = Type.Object(
  {
    /** Among how many actions it was looked for similar ones. */
    looked_at: Type.Integer(),
    outcomes: Type.Array(Type.Object({ status: Type.String(), count: Type.Integer() }, closed)),
    actions: Type.Array(
      Type.Object(
        {
          action_id: Type.String(),
          what: Type.String(),
          status: Type.String(),
          at: Moment,
        },
        closed,
      ),
    ),
  },
  closed,
)

/** Absolute paths and globs; a path covers everything below it. */
const Only = Type.Array(Type.String({ pattern: '^/', 'x-says': 'an absolute path or glob' }), {
  minItems: 1,
  maxItems: 1000,
})

export const QUESTION_ROUTES = {
  listQuestions: route({
    method: 'GET',
    path: '/v1/questions',
    tag: 'questions',
    says: 'Lists the questions that wait for a human, the riskiest and then the oldest first.',
    who: 'caller',
    command: 'inbox',
    query: Type.Object(
      {
        /** Questions of one shape can be answered together. */
        shape: Type.Optional(Type.String({ maxLength: 200 })),
        /** How many to leave out at the beginning. */
        from: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
      },
      closed,
    ),
    answers: {
      // `total`: how many there are, those left out among them.
      200: Type.Object({ questions: Type.Array(QuestionHead), total: Type.Integer() }, closed),
    },
  }),
  showQuestion: route({
    method: 'GET',
    path: '/v1/questions/{id}',
    tag: 'questions',
    says: 'Shows a question with everything that it would change.',
    who: 'caller',
    command: 'inbox',
    params: QuestionId,
    answers: { 200: WholeQuestion },
  }),
  showChange: route({
    method: 'GET',
    path: '/v1/questions/{id}/change',
    tag: 'questions',
    says: 'Shows one path of a question as it is and as it would be.',
    who: 'human',
    command: 'inbox',
    params: QuestionId,
    query: Type.Object({ path: Type.String({ minLength: 1, maxLength: 16_384 }) }, closed),
    answers: {
      200: Type.Object(
        { path: Type.String(), change: Type.String(), before: ShownSide, after: ShownSide },
        closed,
      ),
    },
  }),
  listSimilar: route({
    method: 'GET',
    path: '/v1/questions/{id}/similar',
    tag: 'questions',
    says: 'Counts what became of recent actions that are similar to a question.',
    who: 'human',
    command: 'log',
    params: QuestionId,
    answers: { 200: Similar },
  }),
  showPart: route({
    method: 'POST',
    path: '/v1/questions/{id}/part',
    tag: 'questions',
    says: 'Shows a part of a question, judged by itself, and what would be left; changes nothing.',
    who: 'human',
    command: 'approve',
    params: QuestionId,
    body: Type.Object({ only: Only }, closed),
    answers: { 200: PartOfQuestion },
  }),
  approveQuestion: route({
    method: 'POST',
    path: '/v1/questions/{id}/approve',
    tag: 'questions',
    says: 'Approves exactly the effects that the digest names; they are promoted.',
    who: 'proven',
    command: 'approve',
    params: QuestionId,
    body: Type.Object(
      {
        result_digest: Digest,
        /** The part that was shown, whose result has the digest. */
        only: Type.Optional(Only),
        /** Also grants what the question offers as `always`. */
        always: Type.Optional(Type.Literal(true)),
        proof: Proof,
      },
      closed,
    ),
    answers: {
      200: ACTION_ROUTES.showAction.answers[200],
      202: ACTION_ROUTES.showAction.answers[200],
    },
  }),
  denyQuestion: route({
    method: 'POST',
    path: '/v1/questions/{id}/deny',
    tag: 'questions',
    says: 'Denies a question; nothing of it is promoted.',
    who: 'proven',
    command: 'deny',
    spoken: { kind: 'act', words: ['id'] },
    params: QuestionId,
    body: Type.Object({ reason: Type.Optional(Type.String()), proof: Proof }, closed),
    answers: { 200: ACTION_ROUTES.showAction.answers[200] },
  }),
}
