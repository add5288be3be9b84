/** What stopped a promotion: an answer about the act, a passing state, or a failure of the machine. */
import { type Fault, FaultError, fault, faultError, showName } from '../../base/index.ts'
import type { answerFault } from '../../gate/index.ts'

/** A promotion that was refused, or that the machine did not carry out, is an answer. */
export function isAnswer({ code }: Fault): boolean {
  return ANSWERS.has(code)
}

const ANSWERS: ReadonlySet<string> = new Set([
  'promote.conflict',
  'promote.busy',
  'promote.no_space',
  'promote.unsupported_fs',
  'promote.stage_altered',
  'promote.failed',
  'promote.unrecovered',
  'workspace.busy',
  'stage.missing',
  'precondition.failed',
  'flow.stage_void',
  'request.failed',
  'compensation.used',
  'request.altered',
  'request.save_to',
  'halted',
])

/** The workspace is taken by another process, or waits for a human's choice. */
const UNAVAILABLE: readonly string[] = ['promote.unrecovered', 'workspace.busy']

/** Returns whether the workspace is not available now, which says nothing about the act. */
export function isUnavailable({ code }: Fault): boolean {
  return UNAVAILABLE.includes(code)
}

const PASSING: ReadonlySet<string> = new Set([
  'halted',
  'promote.busy',
  'promote.no_space',
  'promote.failed',
  ...UNAVAILABLE,
])

/** Returns whether a held act can be promoted later: the obstacle is temporary and does not end it. */
export function isPassing(error: Error, { code }: Fault): boolean {
  return PASSING.has(code) || (error instanceof StageVoid && error.state === 'waiting')
}

/** A held act cannot be promoted on what its bases have become, or are not yet. */
export class StageVoid extends FaultError {
  readonly state: 'waiting' | 'void'

  constructor(state: 'waiting' | 'void', base: string) {
    const message =
      state === 'waiting'
        ? `it is based on ${showName(base)}, which is not promoted yet`
        : `it is based on ${showName(base)}, which is not what it was`
    super(fault('flow.stage_void', base, null, { message }))
    this.state = state
  }
}

export type StopCode =
  | NonNullable<ReturnType<typeof answerFault>>
  | 'halted'
  | 'laws.changed'
  | 'rollback.nothing'

export function refusal(code: StopCode, at: string): FaultError {
  // None of these codes carries details.
  return new FaultError(fault(code as 'halted', at, null))
}

/** A yes would use up a question whose effects cannot become real now. */
export function haltedQuestion(id: string): FaultError {
  const message = 'everything was halted by a human, and nothing becomes real'
  const hint = 'the question still waits; answer it after `writ resume`'
  return faultError('halted', id, message, hint)
}
