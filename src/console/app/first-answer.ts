/**
 * The answer that the first page waits for, asked for while the rest of the console is still loading: the
 * question of the address. It is used once; what is asked later is asked again.
 */
import { pageKey } from './page-key.ts'

const { origin, pathname } = window.location
export const isQuestion = /^\/questions\/[^/]+$/.test(pathname)
const address = `${origin}/v1${pathname}`
const key = pageKey()

let first =
  isQuestion && key !== null ? fetch(address, { headers: { 'writ-page-key': key } }) : null
// Who takes it sees why it failed.
first?.catch(() => null)

/** As `fetch`; the first answer goes to the one who asks for it. */
export const fetchOnce: typeof fetch = (input, init) => {
  const taken = first
  if (taken === null || String(input) !== address) return fetch(input, init)
  first = null
  return taken
}
