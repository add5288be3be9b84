/**
 * An HTTP endpoint: the document is posted as JSON, the answer is the body. Its first secret, if it
 * names one, is sent as a bearer token.
 */
import type { IncomingMessage } from 'node:http'
import { Declined, failure, heard, LineFailure, withDeadline } from './line.ts'
import type { ParticipantRequest, Said } from './participant-request.ts'
import { answerTo } from './patient-fetch.ts'
import { type Secrets, withoutSecrets } from './secrets.ts'
import { converse } from './tool-calls.ts'

const BODY_BYTES_MAX = 16 << 20

export function askEndpoint(asking: ParticipantRequest): Promise<Said> {
  const { participant, secrets } = asking
  const url = 'http' in participant ? participant.http : ''
  const [token] = Object.values(secrets)
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  }
  return heard(async () => {
    const text = await withDeadline(asking, (signal) =>
      converse(asking, (document) => post({ url, headers, secrets }, document, signal)),
    )
    return { text, tokens: 0 }
  })
}

interface Door {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly secrets: Secrets
}

async function post(
  { url, headers, secrets }: Door,
  document: unknown,
  signal: AbortSignal,
): Promise<string> {
  const body = JSON.stringify(document)
  const response = await answerTo(url, { headers, body, signal })
  const { statusCode: status = 0, headers: answered } = response
  const text = await bounded(response)
  if (status >= 300 && status < 400) throw redirected(status, answered.location, secrets)
  if (status < 200 || status >= 300) throw failure(status, text, secrets)
  refusePage(answered['content-type'] ?? '', text, secrets)
  return text
}

/** Another address is for the flow to name: what is sent may hold what only this one may read. */
function redirected(status: number, location: string | undefined, secrets: Secrets): Declined {
  const where = withoutSecrets(location ?? 'another address', secrets).slice(0, 300)
  return new Declined(`HTTP ${status}: it redirects to ${where}; name that address in the flow`)
}

/** A page, of a login or of a proxy, is no answer, and will be none when it is asked for again. */
function refusePage(type: string, text: string, secrets: Secrets): void {
  if (!type.includes('text/html') && !/^\s*<(?:!doctype|html)\b/i.test(text)) return
  const words = withoutSecrets(text, secrets).trim().slice(0, 200)
  throw new Declined(`it answers with a page (${type || 'no type'}) and not with JSON: ${words}`)
}

async function bounded(response: IncomingMessage): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of response) {
    // Without an encoding a response is read as bytes.
    const read = part as Uint8Array
    bytes += read.length
    if (bytes > BODY_BYTES_MAX) throw new LineFailure('the answer is too long')
    parts.push(read)
  }
  return Buffer.concat(parts).toString('utf8')
}
