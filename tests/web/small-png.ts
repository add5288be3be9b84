/** Packs a picture of the browser: at most 256 colours in a palette, and the best that zlib can do. */
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const HEAD_BYTES = 8
const COLOURS_MAX = 256

interface Pixels {
  readonly width: number
  readonly height: number
  /** Red, green and blue of each. */
  readonly bytes: Buffer
}

export function smallPng(png: Buffer): Buffer {
  const { width, height, bytes } = pixelsOf(png)
  const palette = commonest(bytes)
  const nearest = new Map(palette.map((colour, index) => [colour, index]))
  const rows = Buffer.alloc(height * (width + 1))
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const colour = bytes.readUIntBE(pixel * 3, 3)
    const index = nearest.get(colour) ?? nearestOf(palette, colour)
    nearest.set(colour, index)
    rows[Math.floor(pixel / width) * (width + 1) + 1 + (pixel % width)] = index
  }
  const size = Buffer.alloc(13)
  size.writeUInt32BE(width, 0)
  size.writeUInt32BE(height, 4)
  // Eight bits a pixel, each an index of the palette.
  size.set([8, 3, 0, 0, 0], 8)
  return Buffer.concat([
    png.subarray(0, HEAD_BYTES),
    chunk('IHDR', size),
    chunk('PLTE', Buffer.from(palette.flatMap(channelsOf))),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function commonest(bytes: Buffer): readonly number[] {
  const counts = new Map<number, number>()
  for (let at = 0; at < bytes.length; at += 3) {
    const colour = bytes.readUIntBE(at, 3)
    counts.set(colour, (counts.get(colour) ?? 0) + 1)
  }
  return [...counts]
    .sort((left, right) => right[1] - left[1])
    .slice(0, COLOURS_MAX)
    .map(([colour]) => colour)
}

function channelsOf(colour: number): readonly number[] {
  return [colour >> 16, (colour >> 8) & 255, colour & 255]
}

function nearestOf(palette: readonly number[], colour: number): number {
  const wanted = channelsOf(colour)
  const distances = palette.map((one) =>
    channelsOf(one).reduce((sum, value, index) => sum + (value - (wanted[index] ?? 0)) ** 2, 0),
  )
  return distances.indexOf(Math.min(...distances))
}

function pixelsOf(png: Buffer): Pixels {
  const packed: Buffer[] = []
  for (let at = HEAD_BYTES; at < png.length; at += 12 + png.readUInt32BE(at)) {
    const length = png.readUInt32BE(at)
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      packed.push(png.subarray(at + 8, at + 8 + length))
  }
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)]
  // The browser writes three or four channels of eight bits.
  const channels = png[25] === 6 ? 4 : 3
  const raw = unfiltered(inflateSync(Buffer.concat(packed)), width * channels, height, channels)
  const bytes = Buffer.alloc(width * height * 3)
  for (let pixel = 0; pixel < width * height; pixel += 1)
    raw.copy(bytes, pixel * 3, pixel * channels, pixel * channels + 3)
  return { width, height, bytes }
}

/** Takes the filters of the rows back (PNG, section 9). */
function unfiltered(rows: Buffer, length: number, height: number, step: number): Buffer {
  const out = Buffer.alloc(length * height)
  for (let row = 0; row < height; row += 1) {
    const filter = rows[row * (length + 1)] ?? 0
    for (let column = 0; column < length; column += 1) {
      const at = row * length + column
      const left = column < step ? 0 : (out[at - step] ?? 0)
      const up = row === 0 ? 0 : (out[at - length] ?? 0)
      const corner = row === 0 || column < step ? 0 : (out[at - length - step] ?? 0)
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter] ?? 0
      out[at] = ((rows[row * (length + 1) + 1 + column] ?? 0) + guess) & 255
    }
  }
  return out
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner
  const [a, b, c] = [left, up, corner].map((one) => Math.abs(guess - one)) as [
    number,
    number,
    number,
  ] // Three of three.
  if (a <= b && a <= c) return left
  return b <= c ? up : corner
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [head, tail] = [Buffer.alloc(4), Buffer.alloc(4)]
  head.writeUInt32BE(data.length)
  tail.writeUInt32BE(crc32(body))
  return Buffer.concat([head, body, tail])
}
