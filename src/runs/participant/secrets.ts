/**
 * Secrets of participants: looked up by name when a participant runs, given to that participant alone,
 * and removed from everything that it says before any of it is recorded.
 */
import { faultError, showName } from '../../base/index.ts'
import type { Participant } from '../../contracts/index.ts'
import { SECRET_MIN, withoutSpellings } from '../../service/index.ts'

export type Secrets = Readonly<Record<string, string>>

/** The key of a model whose participant declares none. */
const USUAL_KEY = 'OPENAI_API_KEY'

export function secretsOf(
  participant: Participant,
  environment: Readonly<Record<string, string | undefined>>,
): Secrets {
  const { secrets = [] } = participant
  const usual = environment[USUAL_KEY] ?? ''
  if (secrets.length === 0 && 'chat' in participant && usual !== '') return { [USUAL_KEY]: usual }
  return Object.fromEntries(
    secrets.map((name) => {
      const value = environment[name]
      if (value !== undefined && value !== '') return [name, value]
      const message = `the variable ${showName(name)}, which a participant needs, is not set`
      throw faultError('flow.secret_missing', name, message)
    }),
  )
}

/** The variables of a flow whose values are too short to be searched for, each once. */
export function shortSecrets(
  participants: readonly Participant[],
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const names = participants.flatMap(({ secrets = [] }) => secrets)
  const isShort = (value: string): boolean => value !== '' && value.length < SECRET_MIN
  return [...new Set(names)].filter((name) => isShort(environment[name] ?? ''))
}

/** Returns a text without any of the values, neither plain nor in an encoding that is looked for. */
export function withoutSecrets(text: string, secrets: Secrets): string {
  return withoutSpellings(text, secrets)
}

/**
 * Returns a document without any of the values, in its names and its texts. If it cannot be parsed again
 * afterwards, or is too deep to be searched, returns a text, which no reader takes for a document.
 */
export function documentWithoutSecrets(document: unknown, secrets: Secrets): unknown {
  if (Object.keys(secrets).length === 0) return document
  let clean = ''
  try {
    const text = JSON.stringify(document) ?? ''
    clean = withoutSecrets(text, secrets)
    return clean === text ? document : JSON.parse(clean)
  } catch {
    return clean
  }
}
