/**
 * Where a reader of events stopped: the home, and for each stream how many facts it has.
 * Opaque to readers; a text that is no cursor of this home is refused.
 */

export interface Cursor {
  readonly home: string
  readonly streams: Readonly<Record<string, number>>
}

const STREAM = /^[a-z0-9][a-z0-9._-]{0,63}$/

export function formatCursor({ home, streams }: Cursor): string {
  const parts = Object.entries(streams)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([stream, seq]) => `${stream}=${seq}`)
  return [home, ...parts].join(';')
}

export function parseCursor(text: string, home: string): Cursor | null {
  const [owner, ...parts] = text.split(';')
  if (owner !== home || parts.length > 1_000) return null
  const streams: Record<string, number> = {}
  for (const part of parts) {
    const [stream = '', seq = '', ...others] = part.split('=')
    if (!STREAM.test(stream) || !/^\d{1,15}$/.test(seq) || others.length > 0) return null
    streams[stream] = Number(seq)
  }
  return { home, streams }
}
