/**
 * Secrets of participants: looked up by name when somebody runs, handed to that one alone, and taken
 * out of everything that he says before any of it is recorded.
 */
import { fault, showName } from '../../base/index.ts'
import type { Participant } from '../../contracts/index.ts'
import { FlowFailure } from './failure.ts'

export type Secrets = Readonly<Record<string, string>>

export function secretsOf(
  { secrets = [] }: Participant,
  environment: Readonly<Record<string, string | undefined>>,
): Secrets {
  return Object.fromEntries(
    secrets.map((name) => {
      const value = environment[name]
      if (value !== undefined && value !== '') return [name, value]
      const message = `the variable ${showName(name)}, which a participant needs, is not set`
      throw new FlowFailure(fault('flow.secret_missing', name, null, { message }))
    }),
  )
}

/** Shorter values would be found in everything. */
const LENGTH_MIN = 4

/** A text without any of the values, each also as it stands in JSON. */
export function withoutSecrets(text: string, secrets: Secrets): string {
  let clean = text
  for (const [name, value] of Object.entries(secrets)) {
    if (value.length < LENGTH_MIN) continue
    for (const form of new Set([value, JSON.stringify(value).slice(1, -1)])) {
      clean = clean.replaceAll(form, `[secret ${name}]`)
    }
  }
  return clean
}
