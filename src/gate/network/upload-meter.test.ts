/** What of a connection to a read-only host is counted as told to it. */
import { describe, expect, it } from 'vitest'
import { ANSWER_MIN, HANDSHAKE_FREE, REQUEST_FREE, UploadMeter } from './upload-meter.ts'

const [HANDSHAKE, DATA] = [22, 23]

function record(type: number, length: number): Buffer {
  return Buffer.from([type, 3, 3, length >> 8, length & 255, ...Array<number>(length).fill(7)])
}

describe('through TLS', () => {
  it('a handshake and a request are free, what goes on without an answer is counted', () => {
    const meter = new UploadMeter(true)
    expect(meter.up(record(HANDSHAKE, 500))).toBe(0)
    meter.down(3_000)
    expect(meter.up(Buffer.concat([record(HANDSHAKE, 40), record(DATA, 600)]))).toBe(0)
    expect(meter.up(record(DATA, 600))).toBe(2 * 605 - REQUEST_FREE)
    expect(meter.up(record(DATA, 600))).toBe(605)
  })

  it('an answered request makes the next one free, a sign of life does not', () => {
    const meter = new UploadMeter(true)
    expect(meter.up(record(DATA, REQUEST_FREE - 5))).toBe(0)
    meter.down(ANSWER_MIN - 1)
    expect(meter.up(record(DATA, 95))).toBe(100)
    meter.down(ANSWER_MIN)
    expect(meter.up(record(DATA, REQUEST_FREE - 5))).toBe(0)
  })

  it('what smaller requests left is not kept for a large one', () => {
    const meter = new UploadMeter(true)
    for (let count = 0; count < 50; count++) {
      expect(meter.up(record(DATA, 95))).toBe(0)
      meter.down(10_000)
    }
    expect(meter.up(record(DATA, 5_000))).toBe(5_005 - REQUEST_FREE)
  })

  it('a handshake that goes on is data', () => {
    const meter = new UploadMeter(true)
    expect(meter.up(record(HANDSHAKE, HANDSHAKE_FREE - 5))).toBe(0)
    expect(meter.up(record(HANDSHAKE, 10_000))).toBe(10_005 - REQUEST_FREE)
  })

  it('records may be cut anywhere', () => {
    const bytes = Buffer.concat([record(HANDSHAKE, 300), record(DATA, 2_000), record(HANDSHAKE, 9)])
    const whole = new UploadMeter(true).up(bytes)
    expect(whole).toBe(2_005 - REQUEST_FREE)
    for (const size of [1, 3, 7, 1_000]) {
      const meter = new UploadMeter(true)
      let counted = 0
      for (let at = 0; at < bytes.length; at += size) {
        counted += meter.up(bytes.subarray(at, at + size))
      }
      expect(counted).toBe(whole)
    }
  })
})

it('without TLS everything is data', () => {
  expect(new UploadMeter(false).up(record(HANDSHAKE, 2_000))).toBe(2_005 - REQUEST_FREE)
})
