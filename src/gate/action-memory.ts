/** What is remembered of one action. */
export interface ActionMemory {
  /** Null where the record does not tell. */
  readonly actor: string | null
  readonly intent: string | null
  readonly proposalDigest: string
  readonly cooldownOnRepeat: boolean
  /** It is no person's: what it displaced is kept within a room of its own, in bytes. */
  readonly isActors: boolean
  readonly displaced: number
  readonly isApproved: boolean
  /** It was judged by an evaluator for which silence was a no. */
  readonly silenceDenies: boolean
}
