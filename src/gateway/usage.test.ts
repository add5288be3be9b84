/** Counts of tokens are found wherever the network cuts an answer. */
import { describe, expect, it } from 'vitest'
import { UsageReader } from './usage.ts'

const EVENTS = [
  'data: {"type":"message_start","message":{"usage":{"input_tokens":7,"output_tokens":1}}}',
  'data: {"type":"content_block_delta","delta":{"text":"é usage of \\"usage\\""}}',
  'data: {"type":"message_delta","usage":{"output_tokens":12}}',
]
const STREAM = Buffer.from(`${EVENTS.join('\n\n')}\n\n`)
const DOCUMENT = Buffer.from('{"id":1,"usage":{"prompt_tokens":5,"completion_tokens":6}}')

function read(type: string, pieces: readonly Buffer[]) {
  const reader = new UsageReader(type)
  for (const piece of pieces) reader.take(piece)
  return reader.end()
}

describe('tokens of an answer', () => {
  it('are counted at every cut of a stream', () => {
    for (let cut = 0; cut <= STREAM.length; cut++) {
      const pieces = [STREAM.subarray(0, cut), STREAM.subarray(cut)]
      expect(read('text/event-stream', pieces), `cut at ${cut}`).toEqual({
        input: 7,
        cached: 0,
        output: 12,
      })
    }
  })

  it('are counted byte by byte', () => {
    const bytes = (text: Buffer) => [...text].map((_, at) => text.subarray(at, at + 1))
    expect(read('text/event-stream', bytes(STREAM))).toEqual({ input: 7, cached: 0, output: 12 })
    expect(read('application/json', bytes(DOCUMENT))).toEqual({ input: 5, cached: 0, output: 6 })
  })

  it('are counted with those that a host had kept, in the words of each interface', () => {
    const used = (usage: object) =>
      read('application/json', [Buffer.from(JSON.stringify({ usage, usageMetadata: usage }))])
    const kept = { input_tokens: 2, cache_read_input_tokens: 30, cache_creation_input_tokens: 5 }
    expect(used({ ...kept, output_tokens: 4 })).toEqual({ input: 37, cached: 30, output: 4 })
    const told = { prompt_tokens: 40, prompt_tokens_details: { cached_tokens: 30 } }
    expect(used(told)).toEqual({ input: 40, cached: 30, output: 0 })
    const gemini = { promptTokenCount: 40, cachedContentTokenCount: 9, candidatesTokenCount: 3 }
    expect(used({ ...gemini, thoughtsTokenCount: 8 })).toEqual({ input: 40, cached: 9, output: 11 })
  })

  it('are none of a document that is too long', () => {
    const long = Buffer.alloc(5 * 1024 * 1024, ' ')
    expect(read('application/json', [long, DOCUMENT])).toEqual({ input: 0, cached: 0, output: 0 })
  })
})
