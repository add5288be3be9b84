/** What is remembered of one action. */
export interface ActionMemory {
  /** Null where the record does not name it. */
  readonly actor: string | null
  readonly intent: string | null
  readonly proposalDigest: string
  readonly cooldownOnRepeat: boolean
  /** An actor that is no person did it, so its undo data counts against that actor's limit. */
  readonly isActors: boolean
  readonly displaced: number
  readonly isApproved: boolean
  /** The evaluator that judged it took an expired question as a no. */
  readonly silenceDenies: boolean
}
