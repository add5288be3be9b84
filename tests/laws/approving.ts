/** The order that `approving.program.ts` carries out. */
export interface ApprovingOrder {
  readonly project: string
  readonly state: string
  readonly home: string
  readonly watcher: string
  readonly who: string
  readonly passphrase: string
  readonly id: string
  /** The point of the promotion before which it is killed; at none without it. */
  readonly killAt?: string
  /** What is signed in place of what was asked. */
  readonly signed?: {
    readonly proposalDigest?: string
    readonly resultDigest?: string
    readonly askedAt?: string
  }
}
