/**
 * What no document may reach for (G-2, G-6): the host's own directories, writ's configuration and
 * state, and roots so high that a scope would be the machine. Homes and mounts are not in the text.
 */
import { type Glob, isLiteralSegment, matchesName, type Segment } from './glob.ts'
import { HOST_DIRECTORIES, WRIT_PLACES } from './path.ts'

/**
 * The host's place that a glob names or can match, as words for a message; null when none. Laws and
 * rules of a home are no such place, but for records of before that.
 */
export function hostPlace(glob: Glob, sharesLaws = true): string | null {
  const [top] = glob.segments
  if (top !== undefined) {
    const directory = HOST_DIRECTORIES.find((name) => canBe(top, name))
    if (directory !== undefined) return `/${directory}`
  }
  if (sharesLaws && isSharedOfWrit(glob.segments)) return null
  const place = WRIT_PLACES.find((names) => holdsInRow(glob.segments, names))
  return place === undefined ? null : place.join('/')
}

/** As `hostPlace`, and also the root, a top-level directory, and every glob that holds one. */
export function hostRoot(glob: Glob, sharesLaws = true): string | null {
  const { segments } = glob
  const depth = segments[segments.length - 1] === '**' ? segments.length - 1 : segments.length
  if (depth === 0) return '/'
  if (depth === 1) return 'a top-level directory'
  return hostPlace(glob, sharesLaws)
}

/** `.writ/laws.yaml`, or something in `.writ/rules`: what people share, and what a human accepts. */
function isSharedOfWrit(segments: readonly Segment[]): boolean {
  const names = segments.map((segment) => (segment === '**' ? '**' : segment.join('*')))
  const place = names.indexOf('.writ')
  if (place < 0 || names.indexOf('.writ', place + 1) >= 0) return false
  const [name, ...rest] = names.slice(place + 1)
  return name === 'rules' ? rest.length > 0 : name === 'laws.yaml' && rest.length === 0
}

function canBe(segment: Segment, name: string): boolean {
  return segment === '**' || matchesName(segment, name)
}

/**
 * Literal names only: a wildcard that could match is no request for the place, and what it really
 * meets is seen in the rehearsal.
 */
function holdsInRow(segments: readonly Segment[], names: readonly string[]): boolean {
  return segments.some((_, start) =>
    names.every((name, offset) => {
      const segment = segments[start + offset]
      return segment !== undefined && isLiteralSegment(segment) && segment[0] === name
    }),
  )
}
