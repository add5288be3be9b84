/**
 * `halt_v1`: the host was halted or resumed (G-23). A fact of the host's stream. Anyone may halt. Only
 * a human with a credential may resume.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS } from '../../base/index.ts'
import type { Contract } from '../kernel/contract.ts'
import { checkMoments, closed, Moment, Reason } from './shapes.ts'

const HALT_STATES = ['HALTED', 'RESUMED'] as const

const HaltSchema = Type.Object(
  { state: Type.Enum([...HALT_STATES]), reason: Type.Optional(Reason), at: Moment },
  closed,
)

export type Halt = Type.Static<typeof HaltSchema>

export const haltContract: Contract = {
  name: 'halt_v1',
  title: 'Everything was stopped, or goes on.',
  prefix: 'gate_record',
  schema: HaltSchema,
  checks: [checkMoments(['at'])],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
