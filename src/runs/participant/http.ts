/**
 * An HTTP endpoint: the document is posted as JSON, the answer is the body. Its first secret, if it
 * names one, is sent as a bearer token.
 */

import { failure, heard, LineFailure, withDeadline } from './line.ts'
import type { ParticipantRequest, Said } from './participant-request.ts'
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
  readonly secrets: ParticipantRequest['secrets']
}

async function post(
  { url, headers, secrets }: Door,
  document: unknown,
  signal: AbortSignal,
): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body: JSON.stringify(document),
    signal,
    redirect: 'error',
  })
  const text = await bounded(response)
  if (!response.ok) throw failure(response.status, text, secrets)
  return text
}

async function bounded(response: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of response.body ?? []) {
    bytes += part.length
    if (bytes > BODY_BYTES_MAX) throw new LineFailure('the answer is too long')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}
