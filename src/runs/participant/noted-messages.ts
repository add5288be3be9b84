/** The messages of an MCP server over HTTP as they came: one JSON document, or a stream of events. */

/** Returns the response, and hands the text of each message in its body to `note` before it is read. */
export function notedMessages(response: Response, note: (message: string) => void): Response {
  if (response.body === null) return response
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  const reader = isStream ? new EventReader(note) : new DocumentReader(note)
  const decoder = new TextDecoder()
  const watch = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, to) => {
      reader.take(decoder.decode(chunk, { stream: true }))
      to.enqueue(chunk)
    },
    flush: () => reader.end(),
  })
  const { status, headers } = response
  return new Response(response.body.pipeThrough(watch), { status, headers })
}

class DocumentReader {
  readonly #note: (message: string) => void
  #text = ''

  constructor(note: (message: string) => void) {
    this.#note = note
  }

  take(text: string): void {
    this.#text += text
  }

  end(): void {
    this.#note(this.#text)
  }
}

/** The `data:` lines of one event are one message; an empty line ends the event. */
class EventReader {
  readonly #note: (message: string) => void
  #rest = ''
  #data: string[] = []

  constructor(note: (message: string) => void) {
    this.#note = note
  }

  take(text: string): void {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/)
    this.#rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line.startsWith('data:')) this.#data.push(line.slice('data:'.length))
      else if (line === '') this.#dispatch()
    }
  }

  #dispatch(): void {
    if (this.#data.length > 0) this.#note(this.#data.join('\n'))
    this.#data = []
  }

  end(): void {
    this.#dispatch()
  }
}
