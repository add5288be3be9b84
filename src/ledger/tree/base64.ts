/**
 * Base 64 (RFC 4648, section 4) and hex, strict: one text for each sequence of bytes. Written here
 * because the platform's decoders skip what they do not know, and a signature must not have two
 * spellings.
 */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const SHAPE = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const HEX = /^(?:[0-9a-f]{2})*$/

export function encodeBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at
    const bits = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
    text += ALPHABET.charAt(bits >> 18) + ALPHABET.charAt((bits >> 12) & 63)
    text += left > 1 ? ALPHABET.charAt((bits >> 6) & 63) : '='
    text += left > 2 ? ALPHABET.charAt(bits & 63) : '='
  }
  return text
}

export function decodeBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0 || !SHAPE.test(text)) return null
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const bytes = new Uint8Array((text.length / 4) * 3 - padding)
  for (let at = 0, to = 0; at < text.length; at += 4, to += 3) {
    let bits = 0
    for (let place = 0; place < 4; place++) {
      bits = (bits << 6) | Math.max(0, ALPHABET.indexOf(text.charAt(at + place)))
    }
    for (let place = 0; place < 3 && to + place < bytes.length; place++) {
      bytes[to + place] = (bits >> (16 - 8 * place)) & 0xff
    }
  }
  // Bits behind the last byte would be a second spelling.
  return encodeBase64(bytes) === text ? bytes : null
}

export function encodeHex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
}

export function decodeHex(text: string): Uint8Array | null {
  if (!HEX.test(text)) return null
  const bytes = new Uint8Array(text.length / 2)
  for (let at = 0; at < bytes.length; at++) {
    bytes[at] = Number.parseInt(text.slice(2 * at, 2 * at + 2), 16)
  }
  return bytes
}
