/** Tasks for devices and people in the field, and the receipts of what was done. */
import * as Type from 'typebox'
import { route } from '../shape/route.ts'
import {
  AnyDocument,
  answer,
  Documents,
  fields,
  Id,
  Proof,
  StreamOption,
  Switch,
  Word,
} from '../shape/shapes.ts'

const Recorded = answer({ seq: Type.Integer(), fact_id: Type.String() })
const Seq = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

export const TASK_ROUTES = {
  issueTask: route({
    method: 'POST',
    path: '/v1/tasks',
    tag: 'tasks',
    says: 'Issues a task in the name of the human who asks for it.',
    who: 'proven',
    command: 'task issue',
    spoken: { kind: 'act', words: ['task'], input: 'task', takesProof: true },
    body: fields({
      task: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
      key: Type.Optional(Word),
      stream: StreamOption,
      proof: Proof,
    }),
    answers: { 200: answer({ ...Recorded.properties, act_task_id: Type.String() }) },
  }),
  listTasks: route({
    method: 'GET',
    path: '/v1/tasks',
    tag: 'tasks',
    says: 'Lists tasks and what their receipts report.',
    who: 'caller',
    command: 'task list',
    runs: { kind: 'read' },
    query: fields({
      open: Switch,
      device: Type.Optional(Word),
      oldest: Switch,
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
      after: Type.Optional(Seq),
      stream: StreamOption,
    }),
    answers: {
      200: answer({
        tasks: Type.Array(
          answer({
            act_task_id: Type.String(),
            receipts: Type.Integer(),
            status: Type.String(),
          }),
        ),
        next: Type.Optional(Seq),
      }),
    },
  }),
  showTask: route({
    method: 'GET',
    path: '/v1/tasks/{id}',
    tag: 'tasks',
    says: 'Shows one task with its receipts and their proofs.',
    who: 'caller',
    command: 'task show',
    runs: { kind: 'read', words: ['id'] },
    params: fields({ id: Id }),
    query: fields({ stream: StreamOption }),
    answers: {
      200: answer({
        id: Type.String(),
        kind: Type.String(),
        stream: Type.String(),
        facts: Documents,
        evidence_pack: AnyDocument,
        integrity_report: answer({ ok: Type.Boolean() }),
        status: Type.String(),
      }),
    },
  }),
  submitReceipt: route({
    method: 'POST',
    path: '/v1/receipts',
    tag: 'tasks',
    says: 'Records the receipt of a task; taken only from the executor that it names.',
    who: 'caller',
    command: 'receipt submit',
    spoken: { kind: 'act', words: ['receipt'], input: 'receipt' },
    body: fields({
      receipt: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
      stream: StreamOption,
    }),
    answers: { 200: Recorded },
  }),
}
