/**
 * Hides what looks like a secret in a text that a person is shown. The beginning stays, so that nothing
 * else can hide behind the form of a secret.
 */

/** Tokens of known makers, and long runs of letters with digits that no word or path has. */
const TOKENS =
  /(?:sk-|gh[a-z]_|github_pat_|xox[a-z]-|AKIA|AIza|eyJ|glpat-|npm_)[\w.~+=-]{8,}|(?=[\w+=-]*\d)(?=[\w+=-]*[A-Za-z])[\w+=-]{32,}/g
/** The password of an address. */
const PASSWORD = /(:\/\/[^\s/:@"]+:)[^\s/@"]+(?=@)/g
/** The word behind the name of a header or option that carries one. */
const NAMED = /(bearer\s+|(?:api[-_]?key|token|secret|password|passwd)["\s=:,]+)([^\s",/\\]{8,})/gi
/** Names of keys whose text is one, unless it is a command or a path. */
const SECRET_KEY = /(?:key|token|secret|password|passwd|credential)s?"?$/i
const ONE_WORD = /^"([^\s"/\\]{4,})"$/
const KEPT = 4

/** `text` is the JSON of the value of a key. */
export function withoutSecrets(key: string, text: string): string {
  const [, word] = (SECRET_KEY.test(key) ? ONE_WORD.exec(text) : null) ?? []
  if (word !== undefined) return hidden(word)
  return text
    .replace(PASSWORD, '$1…')
    .replace(NAMED, (_, name: string, value: string) => `${name}${hidden(value)}`)
    .replace(TOKENS, hidden)
}

function hidden(secret: string): string {
  const shown = secret.length > 2 * KEPT ? secret.slice(0, KEPT) : ''
  return `${shown}… (${secret.length} characters, hidden)`
}
