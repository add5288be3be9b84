/** Tasks for devices and people in the field, and the receipts of what was done. */
import * as Type from 'typebox'
import { route } from '../shape/route.ts'
import {
  AnyDocument,
  answer,
  Documents,
  fields,
  Id,
  Moment,
  nullable,
  Proof,
  Sentence,
  StreamOption,
  Switch,
  Word,
} from '../shape/shapes.ts'

const Recorded = answer({ seq: Type.Integer(), fact_id: Type.String() })
const Seq = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** Where a task is on its way to its device. */
const Dispatch = answer({
  state: Type.Enum([
    'waiting',
    'due',
    'offered',
    'claimed',
    'started',
    'answered',
    'overdue',
    'silent',
    'unknown',
    'withdrawn',
  ]),
  device: Type.String(),
  way: nullable(Type.String()),
  offered_at: nullable(Moment),
  lease_until: nullable(Moment),
  started_at: nullable(Moment),
  due_at: nullable(Moment),
  ended_at: nullable(Moment),
  late: Type.Boolean(),
})

/** `ID@NAMESPACE`; a device may leave out its own namespace. */
const DeviceId = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}(?:@[A-Za-z0-9][A-Za-z0-9._-]{0,63})?$',
  'x-says': 'a device, id@namespace',
})

/** 32 hex digits that the device chose, so that a repeated claim is recognised. */
const LeaseName = Type.String({ pattern: '^[0-9a-f]{32}$', 'x-says': '32 hex digits' })

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
            dispatch: nullable(Dispatch),
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
        dispatch: nullable(Dispatch),
      }),
    },
  }),
  withdrawTask: route({
    method: 'POST',
    path: '/v1/tasks/{id}/withdraw',
    tag: 'tasks',
    says: 'Ends the offer of a task that no device has started.',
    who: 'proven',
    command: 'task withdraw',
    runs: { kind: 'act', words: ['id'], takesProof: true },
    params: fields({ id: Id }),
    body: fields({ reason: Type.Optional(Sentence), stream: StreamOption, proof: Proof }),
    answers: { 200: answer({ act_task_id: Type.String(), at: Moment }) },
  }),
  listDevices: route({
    method: 'GET',
    path: '/v1/devices',
    tag: 'tasks',
    says: 'Lists the devices with a key, and their keys.',
    who: 'human',
    command: 'device list',
    runs: { kind: 'read' },
    answers: {
      200: answer({
        devices: Type.Array(answer({ device: Type.String(), key: Type.String(), set_at: Moment })),
      }),
    },
  }),
  enrollDevice: route({
    method: 'POST',
    path: '/v1/devices',
    tag: 'tasks',
    says: 'Sets the key with which a device signs what it reports over MQTT.',
    who: 'proven',
    command: 'device enroll',
    runs: { kind: 'act', words: ['device', 'key'], takesProof: true },
    body: fields({
      device: DeviceId,
      key: Type.Optional(
        Type.String({ pattern: '^[A-Za-z0-9+/]{43}=$', 'x-says': 'an Ed25519 key in base64' }),
      ),
      remove: Switch,
      proof: Proof,
    }),
    answers: { 200: answer({ device: Type.String(), key: nullable(Type.String()) }) },
  }),
  listDeviceTasks: route({
    method: 'GET',
    path: '/v1/devices/{id}/tasks',
    tag: 'tasks',
    says: 'Lists what is offered to a device now; waits for an offer as long as `Prefer: wait` says.',
    who: 'caller',
    command: null,
    params: fields({ id: DeviceId }),
    query: fields({}),
    answers: { 200: answer({ offers: Documents }) },
  }),
  claimTask: route({
    method: 'POST',
    path: '/v1/tasks/{id}/claim',
    tag: 'tasks',
    says: 'Gives a device a lease on a task that is offered to it.',
    who: 'caller',
    command: null,
    params: fields({ id: Id }),
    body: fields({
      lease: LeaseName,
      lease_seconds: Type.Optional(Type.Integer({ minimum: 5, maximum: 300 })),
    }),
    answers: { 200: answer({ lease: Type.String(), lease_until: Moment }) },
  }),
  startTask: route({
    method: 'POST',
    path: '/v1/tasks/{id}/start',
    tag: 'tasks',
    says: 'Records that a device starts a task under its lease; then it may act.',
    who: 'caller',
    command: null,
    params: fields({ id: Id }),
    body: fields({ lease: LeaseName }),
    answers: { 200: answer({ due_at: Moment }) },
  }),
  sayAsDevice: route({
    method: 'POST',
    path: '/v1/devices/{id}/messages',
    tag: 'tasks',
    says: 'Takes what a device says of a task: it claims (`ACKED`), starts (`RUNNING`) or reports (`REPORTED`). The home signs its answer, a refusal too.',
    who: 'caller',
    command: null,
    params: fields({ id: DeviceId }),
    body: fields({
      command_id: Id,
      status: Type.Enum(['ACKED', 'RUNNING', 'REPORTED']),
      lease: Type.Optional(LeaseName),
      receipt: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object' })),
    }),
    answers: {
      200: answer({
        command_id: Id,
        tenant_id: Type.String(),
        device_id: Type.String(),
        status: Type.Enum(['RECORDED', 'REFUSED']),
        writ: answer({
          answers: Type.String(),
          nonce: Type.String(),
          about: Type.String(),
          lease_until: Type.String(),
          code: Type.Optional(Type.String()),
          message: Type.Optional(Type.String()),
          sig: Type.String(),
        }),
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
