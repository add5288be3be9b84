/** What a session hands over to be run outside, and what is known of it before a person is asked. */

/** A word, or the place of an input file in one. */
export type HeldWord =
  | string
  | { readonly before?: string; readonly input: number; readonly after?: string }

export interface CommandWish {
  readonly program: 'gh' | 'npm'
  readonly argv: readonly HeldWord[]
  readonly inputs: readonly HeldInput[]
  /** The scope of the session, in which no program of the person's lies. */
  readonly trees: readonly string[]
}

export interface HeldInput {
  readonly name: string
  readonly bytes: Buffer
}

/** What a command does, as its own kind knows it. */
export interface CommandPlan {
  /** The address that the question and the laws are about. */
  readonly url: string
  readonly method: string
  readonly summary: string
  /** For a person, line by line. */
  readonly lines: readonly string[]
  /** The words of the person's program. */
  readonly argv: readonly HeldWord[]
  readonly variables: Readonly<Record<string, string>>
}
