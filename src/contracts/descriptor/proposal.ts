/**
 * `proposal_v1`: a descriptor with the operation it speaks of, or, for a composite, with the
 * proposals it consists of (G-7). Descriptor and operation are judged by their own contracts, with
 * their own codes; here is what holds between the parts.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS } from '../../base/index.ts'
import type { Contract } from '../kernel/contract.ts'
import { type ActionDescriptor, ActionDescriptorSchema } from './descriptor.ts'
import { OPERATION_DEFINITIONS, type Operation } from './operation.ts'
import { checkProposal } from './proposal-checks.ts'
import { closed } from './shapes.ts'

const ProposalBody = Type.Object(
  {
    descriptor: ActionDescriptorSchema,
    operation: Type.Optional(Type.Ref('#/$defs/Operation')),
    children: Type.Optional(Type.Array(Type.Ref('#/$defs/Proposal'))),
  },
  { ...closed, 'x-prefix': 'proposal' },
)

const ProposalSchema = Type.Ref('#/$defs/Proposal', {
  $defs: { ...OPERATION_DEFINITIONS, Proposal: ProposalBody },
})

/** The static type of a reference is unknown, so the recursion is said here. */
export interface Proposal {
  readonly descriptor: ActionDescriptor
  readonly operation?: Operation
  readonly children?: readonly Proposal[]
}

export const proposalContract: Contract = {
  name: 'proposal_v1',
  title: 'A descriptor with the operation it speaks of, or with the proposals it consists of.',
  prefix: 'proposal',
  schema: ProposalSchema,
  checks: [checkProposal],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
