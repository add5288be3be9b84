/**
 * Bodies (L-5): values of any size that a fact never holds: outputs, standard input, values of
 * variables and headers, contents. The fact keeps a redacted view and a commitment
 *
 *     sha256(salt ‖ bytes)
 *
 * and the store keeps the body, which is exactly `salt ‖ bytes`. So its content address is the
 * commitment. Once the store has dropped it, a short secret cannot be guessed from the fact.
 *
 * A table says which places are bodies. A place is a JSON Pointer in which `*` matches any one step and
 * `**` any number of them. The caller passes random salts.
 */
import {
  canonicalJson,
  type Digest,
  digestBytes,
  isDigest,
  pointerSteps,
} from '../../base/index.ts'

export const SALT_BYTES = 32

/**
 * An object for the content-addressed store. The store must have it before the fact that names it.
 */
export interface StoredObject {
  readonly digest: Digest
  readonly bytes: Uint8Array
}

export interface BodyRule {
  /** The record type. */
  readonly type: string
  /**
   * `places`: each place becomes a body of its own, and a marker replaces it in the fact.
   * `whole`: the unredacted payload becomes one body that the record names as its original.
   */
  readonly keep: 'places' | 'whole'
  readonly places: readonly string[]
}

/** Later parts add a row here for each record type of theirs that holds contents. */
export const BODY_RULES: readonly BodyRule[] = [
  {
    type: 'proposal_v1',
    keep: 'whole',
    places: [
      '/**/stdin',
      '/**/env/*',
      '/**/url',
      '/**/start_url',
      '/**/headers/*',
      '/**/body',
      '/**/content',
      '/**/content_base64',
      '/**/set/**',
    ],
  },
  { type: 'sandbox_result_v1', keep: 'places', places: ['/outputs/stdout', '/outputs/stderr'] },
  {
    type: 'participant_output_v1',
    keep: 'places',
    places: ['/raw', '/answer/document/artifact/content'],
  },
]

const REDACTED = 'redacted'

export interface Redaction {
  readonly payload: unknown
  readonly bodies: readonly StoredObject[]
  /** The commitment to the unredacted payload, when the rule keeps it whole. */
  readonly original: { readonly body: Digest; readonly bytes: number } | null
}

/** The redacted view of a payload; the input is left as it is. `salt` gives 32 fresh random bytes. */
export function redact(
  payload: unknown,
  rule: BodyRule | undefined,
  salt: () => Uint8Array,
): Redaction {
  if (rule === undefined) return { payload, bodies: [], original: null }
  const places = Places.of(rule.places.map(pointerSteps))
  const bodies: StoredObject[] = []
  if (rule.keep === 'whole') {
    const bytes = new TextEncoder().encode(canonicalJson(payload))
    const body = commit(salt(), bytes)
    const view = replaceAt(payload, places, () => REDACTED)
    return { payload: view, bodies: [body], original: { body: body.digest, bytes: bytes.length } }
  }
  const view = replaceAt(payload, places, (value) => {
    // Nothing has no contents to keep.
    if (value === '') return value
    const text = typeof value === 'string' ? value : canonicalJson(value)
    const bytes = new TextEncoder().encode(text)
    const body = commit(salt(), bytes)
    bodies.push(body)
    return bodyMarker(body.digest, bytes.length)
  })
  return { payload: view, bodies, original: null }
}

/** A body with its salt in front; its digest is the commitment. */
export function commit(salt: Uint8Array, bytes: Uint8Array): StoredObject {
  const body = new Uint8Array(SALT_BYTES + bytes.length)
  body.set(salt.subarray(0, SALT_BYTES))
  body.set(bytes, SALT_BYTES)
  return { digest: digestBytes(body), bytes: body }
}

/** What a salted body holds behind its salt. */
export function contentOf(body: Uint8Array): Uint8Array {
  return body.subarray(SALT_BYTES)
}

/** Returns the marker that replaces a body in a fact. */
export function bodyMarker(digest: Digest, bytes: number): string {
  return `body:${digest}:${bytes}`
}

export function parseBodyMarker(value: unknown): { digest: Digest; bytes: number } | null {
  if (typeof value !== 'string') return null
  const match = /^body:(sha256:[0-9a-f]{64}):(0|[1-9]\d{0,15})$/.exec(value)
  const [, digest = '', bytes = ''] = match ?? []
  return isDigest(digest) ? { digest, bytes: Number(bytes) } : null
}

/** The bodies that a redacted payload names, by the same places that made them. */
export function markedBodies(
  payload: unknown,
  rule: BodyRule | undefined,
): readonly { digest: Digest; bytes: number }[] {
  const found: { digest: Digest; bytes: number }[] = []
  if (rule === undefined || rule.keep === 'whole') return found
  replaceAt(payload, Places.of(rule.places.map(pointerSteps)), (value) => {
    const marker = parseBodyMarker(value)
    if (marker !== null) found.push(marker)
    return value
  })
  return found
}

/**
 * Where a payload names contents by their plain digest: laws, lists, lists of changes, flows. They are
 * kept as bodies without a salt, so that a decision can be computed again.
 */
const CONTENT_PLACES: Readonly<Record<string, readonly string[]>> = {
  laws_v1: ['/body', '/lists'],
  evaluation_v1: ['/laws', '/lists', '/comparison/steps/*/manifest'],
  sandbox_result_v1: ['/diff/manifest'],
  flow_started_v1: ['/flow_digest'],
}
const CONTENTS = new Map<string, Places>()

/** Returns the contents that a payload names by their digest, each once. */
export function namedContents(type: string, payload: unknown): readonly Digest[] {
  const pointers = CONTENT_PLACES[type]
  if (pointers === undefined) return []
  const places = CONTENTS.get(type) ?? Places.of(pointers.map(pointerSteps))
  CONTENTS.set(type, places)
  const found = new Set<Digest>()
  replaceAt(payload, places, (value) => {
    if (typeof value === 'string' && isDigest(value)) found.add(value)
    return value
  })
  return [...found]
}

type Steps = readonly string[]

/**
 * Copies a value and replaces every value at one of the places. Visits each value once, with the
 * patterns that may still match below it.
 */
function replaceAt(value: unknown, places: Places, replace: (value: unknown) => unknown): unknown {
  if (places.isHere) return replace(value)
  if (places.isNowhere || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    return value.map((item, index) => replaceAt(item, places.below(String(index)), replace))
  }
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    const replaced = replaceAt(item, places.below(key), replace)
    // `__proto__` is an ordinary key of a document.
    Object.defineProperty(copy, key, {
      value: replaced,
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
  return copy
}

/** The patterns that may match at a value or below it. */
class Places {
  /** Unfolded. */
  readonly #open: readonly Steps[]
  /** Below a key that no pattern names; most keys are such. */
  #others: Places | null = null
  readonly isHere: boolean

  private constructor(open: readonly Steps[]) {
    this.#open = open
    this.isHere = open.some((steps) => steps.length === 0)
  }

  static of(patterns: readonly Steps[]): Places {
    return new Places(patterns.flatMap(unfold))
  }

  get isNowhere(): boolean {
    return this.#open.length === 0
  }

  below(key: string): Places {
    if (this.#open.some(([first]) => first === '*' || first === key)) {
      return Places.of(narrow(this.#open, key))
    }
    this.#others ??= Places.of(narrow(this.#open, null))
    return this.#others
  }
}

/** Adds the patterns in which `**` matches no step. A last `**` matches one step at least. */
function unfold(steps: Steps): readonly Steps[] {
  if (steps[0] !== '**' || steps.length === 1) return [steps]
  return [steps, ...unfold(steps.slice(1))]
}

/** Returns the patterns below a key; null means a key that no pattern names. */
function narrow(open: readonly Steps[], key: string | null): readonly Steps[] {
  const rest: Steps[] = []
  for (const steps of open) {
    const [first] = steps
    if (first === '**') rest.push(steps.length === 1 ? [] : steps)
    else if (first === '*' || first === key) rest.push(steps.slice(1))
  }
  return rest
}
