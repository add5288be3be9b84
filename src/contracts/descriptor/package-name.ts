/**
 * What the list of a package operation may hold: names with versions, and, to install, files and
 * addresses that the proposal declares. Options, git repositories, aliases and relative paths are
 * refused: they reach places that no declaration names.
 */

const NPM_NAME =
  /^(?:@[a-z0-9~-][a-z0-9._~-]{0,100}\/)?[a-z0-9~-][a-z0-9._~-]{0,213}(?<rest>@.{1,100})?$/i
/** A version, a range of versions, or a tag. */
const NPM_VERSION =
  /^@(?:[\^~<>=v]{0,2}\s?[0-9xX*][0-9A-Za-z.+*-]*(?:\s(?:\|\|\s|-\s)?[\^~<>=v]{0,2}[0-9xX*][0-9A-Za-z.+*-]*){0,7}|[a-z][0-9a-z._-]*)$/i
const PIP_NAME =
  /^[a-z0-9](?:[a-z0-9._-]{0,200}[a-z0-9])?(?:\[[a-z0-9._, -]{1,200}\])?(?:\s?(?:===?|[~!<>]=|[<>])\s?[0-9a-z.*+!_-]{1,100}(?:\s?,\s?(?:===?|[~!<>]=|[<>])\s?[0-9a-z.*+!_-]{1,100}){0,7})?$/i

export type PackageReach =
  | { readonly kind: 'name' }
  /** An archive or a directory, which has to lie inside the scope. */
  | { readonly kind: 'path'; readonly path: string }
  /** An archive on a host that the scope has to name. */
  | { readonly kind: 'address'; readonly url: string }

/** What an entry of the list reaches for; null for what may not stand there. */
export function packageReach(manager: string, text: string): PackageReach | null {
  if (text.startsWith('-')) return null
  if (text.startsWith('/') || text.startsWith('file:/')) {
    return { kind: 'path', path: text.replace(/^file:(?:\/\/)?(?=\/)/, '') }
  }
  if (/^https?:\/\//i.test(text)) return { kind: 'address', url: text }
  return isName(manager, text) ? { kind: 'name' } : null
}

function isName(manager: string, text: string): boolean {
  if (manager === 'pip') return PIP_NAME.test(text)
  const { rest } = NPM_NAME.exec(text)?.groups ?? {}
  if (!NPM_NAME.test(text)) return false
  return rest === undefined || NPM_VERSION.test(rest)
}
