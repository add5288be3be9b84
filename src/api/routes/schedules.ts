/** Flows at set times. The service starts their runs itself. */
import * as Type from 'typebox'
import { route } from '../shape/route.ts'
import {
  AnyDocument,
  answer,
  Documents,
  fields,
  nullable,
  Proof,
  StreamOption,
  Strings,
  Word,
  WorkspaceFile,
} from '../shape/shapes.ts'

const Name = fields({ name: Word })
const Stream = fields({ stream: StreamOption })

const TERMS = {
  workspace: Type.Optional(WorkspaceFile),
  participants: Type.Optional(WorkspaceFile),
  side: Type.Optional(WorkspaceFile),
  zone: Type.Optional(Word),
  missed: Type.Optional(Type.Enum(['once', 'skip'])),
  overlap: Type.Optional(Type.Enum(['skip', 'allow'])),
  stream: StreamOption,
  proof: Proof,
}

const Changed = answer({ ok: Type.Boolean(), name: Type.String(), change: Type.String() })
const Pinned = answer({ name: Type.String(), next: nullable(Type.String()) })
const Terms = { name: Type.String(), cron: Type.String(), zone: Type.String() }

export const SCHEDULE_ROUTES = {
  addSchedule: route({
    method: 'POST',
    path: '/v1/schedules',
    tag: 'schedules',
    says: 'Runs a flow of the workspace at set times; its files are pinned as they are now.',
    who: 'proven',
    command: 'schedule add',
    runs: { kind: 'act', words: ['name', 'cron', 'flow'], takesProof: true },
    body: fields({ name: Word, cron: Word, flow: WorkspaceFile, ...TERMS }),
    answers: { 200: Pinned },
  }),
  listSchedules: route({
    method: 'GET',
    path: '/v1/schedules',
    tag: 'schedules',
    says: 'Lists the schedules with their next times.',
    who: 'caller',
    command: 'schedule list',
    runs: { kind: 'read' },
    query: Stream,
    answers: {
      200: answer({
        schedules: Type.Array(
          answer({
            ...Terms,
            title: Type.String(),
            flow_id: Type.String(),
            workspace: Type.String(),
            paused: Type.Boolean(),
            next: nullable(Type.String()),
            last: AnyDocument,
            troubles: Documents,
          }),
        ),
      }),
    },
  }),
  showSchedule: route({
    method: 'GET',
    path: '/v1/schedules/{name}',
    tag: 'schedules',
    says: 'Shows a schedule: what is pinned, its next times, its last runs.',
    who: 'caller',
    command: 'schedule show',
    runs: { kind: 'read', words: ['name'] },
    params: Name,
    query: Stream,
    answers: {
      200: answer({ ...Terms, paused: Type.Boolean(), next: Strings, slots: Documents }),
    },
  }),
  updateSchedule: route({
    method: 'POST',
    path: '/v1/schedules/{name}/update',
    tag: 'schedules',
    says: 'Pins the files of a schedule as they are now, or changes its times.',
    who: 'proven',
    command: 'schedule update',
    runs: { kind: 'act', words: ['name'], takesProof: true },
    params: Name,
    body: fields({
      cron: Type.Optional(Word),
      flow: Type.Optional(WorkspaceFile),
      ...TERMS,
    }),
    answers: { 200: Pinned },
  }),
  pauseSchedule: route({
    method: 'POST',
    path: '/v1/schedules/{name}/pause',
    tag: 'schedules',
    says: 'Starts no run of a schedule until it is resumed.',
    who: 'proven',
    command: 'schedule pause',
    runs: { kind: 'act', words: ['name'] },
    params: Name,
    body: fields({ stream: StreamOption, proof: Proof }),
    answers: { 200: Changed },
  }),
  resumeSchedule: route({
    method: 'POST',
    path: '/v1/schedules/{name}/resume',
    tag: 'schedules',
    says: 'Starts the runs of a paused schedule again.',
    who: 'proven',
    command: 'schedule resume',
    runs: { kind: 'act', words: ['name'], takesProof: true },
    params: Name,
    body: fields({ stream: StreamOption, proof: Proof }),
    answers: { 200: Changed },
  }),
  removeSchedule: route({
    method: 'POST',
    path: '/v1/schedules/{name}/remove',
    tag: 'schedules',
    says: 'Ends a schedule; its runs stay.',
    who: 'proven',
    command: 'schedule remove',
    runs: { kind: 'act', words: ['name'], takesProof: true },
    params: Name,
    body: fields({ stream: StreamOption, proof: Proof }),
    answers: { 200: Changed },
  }),
}
