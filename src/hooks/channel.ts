/**
 * The channel of a session, seen from a hook: posts a report, returns the answer or null. A channel
 * that is closed, slow or answers something else is no failure of the hook.
 */
import { request } from 'node:http'
import { type ChannelAnswer, readChannelAnswer, type ToolReport } from '../hosts/index.ts'

const ANSWER_BYTES_MAX = 64 * 1024
/** A settle may happen at the end of a tool; nothing waits for the beginning of one. */
const LIMIT_MS = {
  before: 2_000,
  after: 25_000,
  stop: 25_000,
  prompt: 2_000,
  start: 2_000,
} as const

/** `http://127.0.0.1:PORT/TOKEN`; null if the text is no such address. */
function channelUrl(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null
  const isLocal = url?.protocol === 'http:' && ['127.0.0.1', '[::1]'].includes(url.hostname)
  return isLocal ? url : null
}

export function postReport(channel: string, report: ToolReport): Promise<ChannelAnswer | null> {
  const url = channelUrl(channel)
  if (url === null) return Promise.resolve(null)
  return new Promise((resolve) => {
    const body = JSON.stringify(report)
    const path = `${url.pathname.replace(/\/$/, '')}/report`
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    }
    const sent = request({ host: url.hostname, port: url.port, path, method: 'POST', headers })
    const timer = setTimeout(() => sent.destroy(), LIMIT_MS[report.boundary])
    const end = (answer: ChannelAnswer | null): void => {
      clearTimeout(timer)
      sent.destroy()
      resolve(answer)
    }
    sent.on('error', () => end(null))
    sent.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('error', () => end(null))
      response.on('data', (piece: string) => {
        text += piece
        if (text.length > ANSWER_BYTES_MAX) end(null)
      })
      response.on('end', () => end(response.statusCode === 200 ? answerOf(text) : null))
    })
    sent.end(body)
  })
}

function answerOf(text: string): ChannelAnswer | null {
  try {
    return readChannelAnswer(JSON.parse(text))
  } catch {
    return null
  }
}
