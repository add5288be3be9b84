/**
 * An independent verifier of bundles, written from the page of instructions alone: the standard
 * library of Node.js and nothing of the program that wrote the bundle.
 *
 *     node verify.mjs DIRECTORY --key NAME+ID+BASE64 [--key …] [--anchor CHECKPOINT-FILE]
 *
 * Prints { ok, anchored, size, root, problems } as JSON; exit 0 verified, 1 falsified, 2 usage.
 */
import { createHash, createPublicKey, verify } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { argv, exit, stdout } from 'node:process'
import { pathToFileURL } from 'node:url'

function sha256(...parts) {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

const sumOf = (file) => sha256(readFileSync(file)).toString('hex')
const leafOf = (line) => sha256(Buffer.of(0), line)
const node = (left, right) => sha256(Buffer.of(1), left, right)
const hex = (hash) => `sha256:${hash.toString('hex')}`
const isDigest = (text) => typeof text === 'string' && /^sha256:[0-9a-f]{64}$/.test(text)
const TEXT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function demand(condition, message) {
  if (!condition) throw new Error(message)
}

/** RFC 8785. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const keys = Object.keys(value).sort()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`
}

/** Bytes that must be the canonical JSON of something. */
function readCanonical(bytes, what) {
  const text = TEXT.decode(bytes)
  const value = JSON.parse(text)
  demand(canonical(value) === text, `${what} is not in canonical form`)
  return value
}

/** The lines of a file without their newlines; the last one must have its newline, too. */
function* lines(file) {
  const bytes = readFileSync(file)
  let from = 0
  for (let to = bytes.indexOf(10); to !== -1; to = bytes.indexOf(10, from)) {
    yield bytes.subarray(from, to)
    from = to + 1
  }
  demand(from === bytes.length, `${file} does not end with a newline`)
}

/** The tree at its right edge: complete subtrees, largest first. */
class Tree {
  size = 0
  #edge = []
  add(leaf) {
    let hash = leaf
    for (let at = this.size; at % 2 === 1; at = (at - 1) / 2) hash = node(this.#edge.pop(), hash)
    this.#edge.push(hash)
    this.size++
  }
  root() {
    return this.#edge.reduceRight((right, left) => node(left, right))
  }
}

/** The largest power of two below `size`. */
const splitPoint = (size) => 2 ** (31 - Math.clz32(size - 1))

/** The root to which a path leads from a leaf. A path that is too short ends in an error. */
function climb(index, size, leaf, path) {
  if (size === 1) demand(path.length === 0, 'a path is too long')
  if (size === 1) return leaf
  const [rest, sibling, middle] = [path.slice(0, -1), path.at(-1), splitPoint(size)]
  if (index < middle) return node(climb(index, middle, leaf, rest), sibling)
  return node(sibling, climb(index - middle, size - middle, leaf, rest))
}

/** The old and the new root from a consistency proof; the old one is known while it is whole. */
function climbBoth(from, to, path, oldRoot) {
  const [rest, sibling, middle] = [path.slice(0, -1), path.at(-1), splitPoint(to)]
  if (from === to) demand(path.length === (oldRoot === null ? 1 : 0), 'a path is too long')
  if (from === to) return [oldRoot ?? sibling, oldRoot ?? sibling]
  if (from > middle) {
    return climbBoth(from - middle, to - middle, rest, null).map((hash) => node(sibling, hash))
  }
  const [old, now] = climbBoth(from, middle, rest, oldRoot)
  return [old, node(now, sibling)]
}

function base64(text, what) {
  const bytes = Buffer.from(text ?? '', 'base64')
  demand(bytes.toString('base64') === text, `${what} is not base64`)
  return bytes
}

/** NAME+ID+BASE64 as { text, name, id, object, bytes }. */
function readKey(text) {
  const [, name, id, encoded] = /^([^+\s]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text) ?? []
  const content = base64(encoded, 'a key')
  demand(content.length === 33 && content[0] === 1, `\`${text}\` is no Ed25519 key`)
  const wanted = sha256(`${name}\n`, content).toString('hex').slice(0, 8)
  demand(id === wanted, `the id of the key \`${text}\` is not ${wanted}`)
  const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), content.subarray(1)])
  const object = createPublicKey({ key: spki, format: 'der', type: 'spki' })
  return { text, name, id, object, bytes: content.subarray(1) }
}

/** A note as { what, text, origin, size, root, more, signatures }. */
function readNote(bytes, what) {
  const whole = TEXT.decode(bytes)
  const [, text = '', tail = ''] = /^((?:[^\n]+\n){3,})\n((?:[^\n]+\n)+)$/.exec(whole) ?? []
  const [origin, size, encoded, ...more] = text.slice(0, -1).split('\n')
  const root = base64(encoded, `the root of ${what}`)
  demand(/^[1-9]\d{0,15}$/.test(size) && root.length === 32, `${what} is not a checkpoint`)
  const lines = tail.slice(0, -1).split('\n')
  const signatures = lines.map((line) => {
    const [, name, content] = /^\u2014 ([^\s+]+) (\S+)$/.exec(line) ?? []
    const decoded = base64(content, `a signature of ${what}`)
    return { name, id: decoded.toString('hex', 0, 4), bytes: decoded.subarray(4) }
  })
  return { what, text, origin, size: Number(size), root, more, signatures }
}

/** Signed by the keys of its size: a note of the bundle by exactly these, an anchor at least. */
function checkNote({ what, text, size, more, signatures }, schedule, isOurs) {
  const signers = schedule.filter(({ from, to }) => size >= from && size <= to)
  const isBy = (one, span) => one.name === span?.key.name && one.id === span.key.id
  const known = signatures.filter((one) => schedule.some((span) => isBy(one, span)))
  demand(known.length > 0, `${what} is signed by none of the keys`)
  for (const one of known) {
    const span = signers.find((signer) => isBy(one, signer))
    demand(span !== undefined, `${what} is signed by a key that may not sign this size`)
    const fits = verify(null, Buffer.from(text), span.key.object, one.bytes)
    demand(fits, `a signature of ${what} does not fit`)
  }
  const isExact = signatures.every((one, at) => isBy(one, signers[at])) && more.length === 0
  const isWhole = signatures.length === signers.length && isExact
  demand(!isOurs || isWhole, `${what} has not exactly the signatures of its size`)
}

const MANIFEST = 'bodies,exported_at,format,inclusion_proofs,level,origin,root,size,stream'
const KEYS = 'fact_id,occurred_at,principal,record,seq,source,stream'
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Steps 1, 2 and 5, and what 4 and 6 need of the facts. */
function readFacts(directory, stream, notes) {
  const tree = new Tree()
  const [leaves, rotations, references] = [[], [], []]
  const [dropped, types, usedKeys] = [new Set(), new Set(), new Set()]
  let last = ''
  for (const line of lines(join(directory, 'facts.jsonl'))) {
    const seq = tree.size
    const fact = readCanonical(line, `fact ${seq}`)
    demand(Object.keys(fact).sort().join() === KEYS, `fact ${seq} has other keys`)
    demand(fact.seq === seq && fact.stream === stream, `fact ${seq} stands at another place`)
    demand(MOMENT.test(fact.occurred_at), `fact ${seq} has no time`)
    demand(fact.occurred_at >= last, `fact ${seq} goes back in time`)
    last = fact.occurred_at
    const { type, payload, payload_ref: digest, bytes, idempotency_key: key } = fact.record
    demand(key === undefined || !usedKeys.has(key), `fact ${seq} uses an idempotency key again`)
    usedKeys.add(key)
    types.add(type)
    if (type === 'key_rotated_v1' && payload.old_key !== null) rotations.push({ seq, ...payload })
    if (type === 'body_dropped_v1') dropped.add(payload.body)
    if (payload === undefined) references.push({ seq, digest, bytes })
    leaves.push(leafOf(line))
    tree.add(leaves[seq])
    for (const { what, root } of notes.filter(({ size }) => size === tree.size)) {
      demand(root.equals(tree.root()), `${what} has another root than the first ${seq + 1} facts`)
    }
  }
  for (const { what, size } of notes) demand(size <= tree.size, `${what} counts more facts`)
  return { tree, leaves, rotations, references, dropped, types }
}

/** Step 4: which key signs which sizes, and that keys.txt says the same. */
function readSchedule(directory, origin, rotations, pinned) {
  const rows = [...lines(join(directory, 'keys.txt'))].map(String)
  const schedule = [{ from: 1, to: Infinity, key: readKey(rows[0]?.split(' ')[2]) }]
  for (const { seq, origin: named, old_key: old, new_key: key, last_size: size } of rotations) {
    const current = schedule.at(-1)
    const follows = named === origin && size === seq + 1 && old === current.key.text
    const isKept = existsSync(join(directory, `checkpoints/${size}.txt`))
    demand(follows && isKept, `the rotation in fact ${seq} does not follow or has no checkpoint`)
    current.to = size
    schedule.push({ from: size, to: Infinity, key: readKey(key) })
  }
  const show = ({ from, to, key }) => `${from} ${to === Infinity ? '-' : to} ${key.text}`
  demand(schedule.map(show).join() === rows.join(), 'keys.txt lists other keys than the facts')
  const isPinned = ({ key }) => pinned.some(({ bytes }) => bytes.equals(key.bytes))
  demand(schedule.some(isPinned), 'none of the keys is a pinned one')
  demand(
    schedule.every(({ key }) => key.name === origin),
    'a key is not of this origin',
  )
  return schedule
}

/** Step 6. */
function checkObjects(directory, { references, dropped }) {
  const folder = join(directory, 'objects')
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    demand(sumOf(join(folder, name)) === name, `objects/${name} has other contents`)
  }
  for (const { seq, digest, bytes } of references) {
    demand(isDigest(digest), `fact ${seq} has neither payload nor reference`)
    const file = join(folder, digest.slice(7))
    demand(existsSync(file) || dropped.has(digest), `the payload of fact ${seq} is missing`)
    if (!existsSync(file)) continue
    const text = canonical(readCanonical(readFileSync(file), `the payload of fact ${seq}`))
    demand(Buffer.byteLength(text) === bytes, `the payload of fact ${seq} has another length`)
  }
}

/** Step 7. */
function checkProofs(directory, extent, { tree, leaves }, kept) {
  const { size } = tree
  const seqs = extent === 'all' ? [...leaves.keys()] : [0, size - 1]
  const wanted = seqs.map((seq) => [{ type: 'inclusion', seq, size }, null])
  const old = kept.map(({ size: from, root }) => [{ type: 'consistency', from, to: size }, root])
  wanted.push(...old)
  const found = [...lines(join(directory, 'proofs.jsonl'))]
  demand(found.length === wanted.length, 'there are other proofs than there should be')
  wanted.forEach(([head, oldRoot], at) => {
    const { path, ...rest } = readCanonical(found[at], `proof ${at}`)
    demand(canonical(rest) === canonical(head) && path.every(isDigest), `proof ${at} is another`)
    const hashes = path.map((text) => Buffer.from(text.slice(7), 'hex'))
    const [old, root] = oldRoot
      ? climbBoth(head.from, size, hashes, oldRoot)
      : [null, climb(head.seq, size, leaves[head.seq], hashes)]
    demand(root.equals(tree.root()), `proof ${at} does not lead to the root`)
    demand(oldRoot === null || old.equals(oldRoot), `proof ${at} does not start from the old root`)
  })
}

/** The sums of all files: they find damage. Gives the paths. */
function checkSums(directory) {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'SHA256SUMS')
    .map((entry) => relative(directory, join(entry.parentPath ?? entry.path, entry.name)))
    .sort()
  const wanted = files.map((file) => `${sumOf(join(directory, file))}  ${file}\n`).join('')
  const found = readFileSync(join(directory, 'SHA256SUMS'), 'utf8')
  demand(found === wanted, 'SHA256SUMS does not fit the files')
  return files
}

function examine(directory, pinned, anchor, report) {
  const files = checkSums(directory)
  const [line, ...more] = lines(join(directory, 'manifest.json'))
  const manifest = readCanonical(line, 'the manifest')
  const { origin, stream, size, root, format, inclusion_proofs: extent } = manifest
  const isKnown = Object.keys(manifest).join() === MANIFEST && format === 'writ-bundle/1'
  demand(isKnown && more.length === 0, 'the manifest is of another form')
  demand(origin.endsWith(`/${stream}`), 'the origin is not of this stream')
  const read = (file) => readNote(readFileSync(join(directory, file)), file)
  const head = read('checkpoint.txt')
  const kept = files.filter((file) => file.startsWith('checkpoints/')).map(read)
  kept.sort((a, b) => a.size - b.size)
  for (const { what, size } of kept) demand(what === `checkpoints/${size}.txt`, `${what} is not`)
  const anchors = anchor === null ? [] : [readNote(Buffer.from(anchor), 'the anchor')]
  const notes = [head, ...kept, ...anchors]
  demand(
    notes.every((note) => note.origin === origin),
    'a checkpoint is of another origin',
  )
  const facts = readFacts(directory, stream, notes)
  report.size = facts.tree.size
  report.root = hex(facts.tree.root())
  demand(head.size === report.size, `the newest checkpoint counts ${head.size} facts`)
  demand(size === head.size && root === report.root, 'the manifest tells of something else')
  const schedule = readSchedule(directory, origin, facts.rotations, pinned)
  for (const note of notes) checkNote(note, schedule, !anchors.includes(note))
  checkObjects(directory, facts)
  checkProofs(directory, extent, facts, kept)
  for (const type of facts.types) demand(files.includes(`schemas/${type}.json`), `no ${type}`)
}

export function verifyBundle(directory, { keys, anchor = null }) {
  const report = { ok: false, anchored: false, size: 0, root: hex(sha256('')), problems: [] }
  try {
    examine(directory, keys.map(readKey), anchor, report)
    return { ...report, ok: true, anchored: anchor !== null }
  } catch (error) {
    // What cannot even be read has been found out as well.
    return { ...report, problems: [error.message] }
  }
}

if (import.meta.url === pathToFileURL(argv[1] ?? '').href) {
  const values = (name) => argv.filter((_, at) => argv[at - 1] === name)
  const [keys, [file]] = [values('--key'), values('--anchor')]
  const anchor = file === undefined ? null : readFileSync(file, 'utf8')
  const report = verifyBundle(argv[2] ?? '', { keys, anchor })
  if (keys.length === 0)
    report.problems = ['usage: DIRECTORY --key KEY [--key KEY] [--anchor FILE]']
  stdout.write(`${JSON.stringify(report, null, 2)}\n`)
  exit(report.ok ? 0 : keys.length === 0 ? 2 : 1)
}
