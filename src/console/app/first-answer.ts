/**
 * The answer that the first page waits for, asked for while the rest of the console is still loading: the
 * question of the address. It is used once; what is asked later is asked again.
 */
import { pageKey } from './page-key.ts'

const { origin, pathname } = window.location
const isQuestion = /^\/questions\/[^/]+$/.test(pathname)
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

/** The first answer, for who draws it before the console asks; null where it is none to draw. */
export async function firstAnswer(): Promise<unknown> {
  const answer = await first?.catch(() => null)
  return answer?.ok === true ? answer.clone().json() : null
}
