/** Facts of the host's stream: `laws_v1` and `halt_v1`. */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS } from '../../base/index.ts'
import type { Contract } from '../kernel/contract.ts'
import { checkMoments, closed, DigestText, Moment, Reason } from './shapes.ts'

const LawsSchema = Type.Object(
  {
    /** Of the bytes of the file. */
    laws: DigestText,
    /** The body in which these bytes are kept. */
    body: DigestText,
    /** Of the lists that judge besides the laws, with what the laws add to them. */
    lists: DigestText,
    /** Read over the default laws; whole without it, as before layers. */
    layered: Type.Optional(Type.Boolean()),
    accepted_at: Moment,
    reason: Type.Optional(Reason),
  },
  closed,
)

/**
 * `laws_v1`: a human accepted these laws for a home. A fact of the host's stream. The laws stay in force
 * until the next such fact, even if the file changes. The bytes are kept as bodies, so that every
 * decision can be computed again (L-9).
 */
export type Laws = Type.Static<typeof LawsSchema>

export const lawsContract: Contract = {
  name: 'laws_v1',
  title: 'A human accepted these laws.',
  prefix: 'gate_record',
  schema: LawsSchema,
  checks: [checkMoments(['accepted_at'])],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}

const HALT_STATES = ['HALTED', 'RESUMED'] as const

const HaltSchema = Type.Object(
  { state: Type.Enum([...HALT_STATES]), reason: Type.Optional(Reason), at: Moment },
  closed,
)

/**
 * `halt_v1`: the host was halted or resumed (G-23). A fact of the host's stream. Anyone may halt. Only
 * a human with a credential may resume.
 */
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
