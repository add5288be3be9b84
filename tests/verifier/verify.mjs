/**
 * An independent verifier of bundles, written from the page of instructions alone: the standard
 * library of Node.js and nothing of the program that wrote the bundle.
 * `cli.mjs` calls it from the command line.
 */
import { createHash, createPublicKey, verify } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'

const sha256 = (...parts) =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest()
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
  const value = JSON.parse(TEXT.decode(bytes))
  demand(canonical(value) === TEXT.decode(bytes), `${what} is not in canonical form`)
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

/** Adds a leaf to the right edge of a tree: its complete subtrees, largest first. */
function grow(edge, size, leaf) {
  let hash = leaf
  for (let at = size; at % 2 === 1; at = (at - 1) / 2) hash = node(edge.pop(), hash)
  edge.push(hash)
}
const rootOf = (edge) => edge.reduceRight((right, left) => node(left, right))
const splitPoint = (size) => 2 ** (31 - Math.clz32(size - 1)) // The largest power of two below it.

/** The root to which a path leads from a leaf. A path that is too short ends in an error. */
function climb(index, size, leaf, path) {
  demand(size > 1 || path.length === 0, 'a path is too long')
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

/** The same key under another name has another id. */
const idOf = (name, bytes) => sha256(`${name}\n`, Buffer.of(1), bytes).toString('hex', 0, 4)
/** NAME+ID+BASE64 as { text, name, object, bytes }. */
function readKey(text) {
  const [, name, id, encoded] = /^([^+\s]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text) ?? []
  const content = base64(encoded, 'a key')
  const isKey = content.length === 33 && content[0] === 1 && id === idOf(name, content.subarray(1))
  demand(isKey, `\`${text}\` is no Ed25519 key, or has another id`)
  const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), content.subarray(1)])
  const object = createPublicKey({ key: spki, format: 'der', type: 'spki' })
  return { text, name, object, bytes: content.subarray(1) }
}

/** A note as { what, text, origin, size, root, more, signatures }. */
function readNote(bytes, what) {
  const [text = '', tail = ''] =
    TEXT.decode(bytes)
      .match(/^((?:[^\n]+\n){3,})\n((?:[^\n]+\n)+)$/)
      ?.slice(1) ?? []
  const [origin, size, encoded, ...more] = text.slice(0, -1).split('\n')
  const root = base64(encoded, `the root of ${what}`)
  demand(/^[1-9]\d{0,15}$/.test(size) && root.length === 32, `${what} is not a checkpoint`)
  const signatures = [...tail.matchAll(/[^\n]+/g)].map(([line]) => {
    const [, name, content] = /^\u2014 ([^\s+]+) (\S+)$/.exec(line) ?? []
    const decoded = base64(content, `a signature of ${what}`)
    return { name, id: decoded.toString('hex', 0, 4), bytes: decoded.subarray(4) }
  })
  return { what, text, origin, size: Number(size), root, more, signatures }
}

/** A checkpoint of this stream, or what one of the whole home says of it (step 5). */
function readAnchor(bytes, origin, stream) {
  const note = readNote(bytes, 'the anchor')
  if (`${note.origin}/${stream}` !== origin) return note
  const lines = [`host ${note.size} ${note.root.toString('base64')}`, ...note.more]
  const found = lines.map((line) => line.split(' ')).filter(([name]) => name === stream)
  demand(found.length === 1, 'the anchor does not list this stream once')
  const root = base64(found[0][2], 'the root of the anchor')
  return { ...note, origin, size: Number(found[0][1]), root, signedAs: note.origin }
}

/** Signed by the keys of its size: a note of the bundle by exactly these, an anchor at least. */
function checkNote({ what, text, size, signatures, origin, signedAs = origin }, schedule, isOurs) {
  const signers = schedule.filter(({ from, to }) => size >= from && size <= to)
  const isBy = (one, span) =>
    one.name === signedAs && span !== undefined && one.id === idOf(signedAs, span.key.bytes)
  const known = signatures.filter((one) => schedule.some((span) => isBy(one, span)))
  demand(known.length > 0, `${what} is signed by none of the keys`)
  for (const one of known) {
    const span = signers.find((signer) => isBy(one, signer))
    demand(span !== undefined, `${what} is signed by a key that may not sign this size`)
    const fits = verify(null, Buffer.from(text), span.key.object, one.bytes)
    demand(fits, `a signature of ${what} does not fit`)
  }
  const rotated = schedule.find(({ after, from }) => after && from === size)
  const pair = rotated ? [rotated.after, rotated] : [signers.find((one) => isBy(known[0], one))]
  const isExact = signatures.every((one, at) => isBy(one, pair[at]))
  demand(
    !isOurs || (isExact && signatures.length === pair.length),
    `${what} has not exactly the signatures of its size`,
  )
}

const MANIFEST = 'bodies,exported_at,format,inclusion_proofs,level,origin,root,size,stream'
const KEYS = 'fact_id,occurred_at,principal,record,seq,source,stream'
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const bytesOf = (text) => Buffer.from(text, 'base64url')

/** Step 8, but for the checkpoint. */
function checkAssertion(seq, { kind, id, namespace }, payload) {
  const { public_key: key, challenge, ...signed } = payload.assertion
  const what = `the assertion of fact ${seq}`
  const client = bytesOf(signed.client_data)
  const { type, challenge: made, origin, crossOrigin } = JSON.parse(TEXT.decode(client))
  const isMade = made === sha256(canonical(challenge)).toString('base64url')
  demand(type === 'webauthn.get' && isMade, `${what} is over another challenge`)
  demand(/^https?:\/\/writ\.localhost(:\d+)?$/.test(origin) && !crossOrigin, `${what}: origin`)
  const said = bytesOf(signed.authenticator_data)
  const isHere = said.subarray(0, 32).equals(sha256('writ.localhost')) && (said[32] & 5) === 5
  demand(isHere, `${what} shows no verified person`)
  const object = createPublicKey({ key, format: 'jwk' })
  const text = Buffer.concat([said, sha256(client)])
  const hash = key.kty === 'OKP' ? null : 'sha256'
  demand(verify(hash, text, object, bytesOf(signed.signature)), `${what} is not signed by its key`)
  demand(challenge.by === `${kind}:${id}@${namespace}`, `${what} is of another human`)
  if (payload.action_id === undefined) return
  const named = ['answer', 'proposal_digest', 'result_digest', 'asked_at', 'reason']
  const isSame = named.every((name) => challenge[name] === payload[name])
  demand(isSame && challenge.question === payload.action_id.toLowerCase(), `${what}: other answer`)
}

/** The root of some leaves. */
function rootOver(leaves) {
  const edge = []
  for (const [seq, leaf] of leaves.entries()) grow(edge, seq, leaf)
  return rootOf(edge)
}

/** Step 8: the history that the human signed is the one before the fact. */
function checkSignedHistory(seq, stream, { assertion: { challenge } }, leaves) {
  const [, size, root, ...more] = challenge.checkpoint.split('\n')
  const rows = [`host ${size} ${root}`, ...more].map((line) => line.split(' '))
  const [, count, encoded] = rows.find(([name]) => name === stream) ?? []
  if (count === undefined) return
  const holds = Number(count) <= seq && rootOver(leaves.slice(0, count)).equals(base64(encoded))
  demand(holds, `the human of fact ${seq} signed for another history`)
}

/** Steps 1, 2, 5 and 8, and what 4 and 6 need of the facts. */
function readFacts(directory, stream, notes) {
  const [edge, leaves, rotations, references, bodies] = [[], [], [], [], []]
  const [dropped, types, usedKeys] = [new Set(), new Set(), new Set()]
  let last = ''
  for (const line of lines(join(directory, 'facts.jsonl'))) {
    const seq = leaves.length
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
    if (type === 'machine_v1') {
      demand(fact.principal.kind === 'human', `the machine of fact ${seq} was let in by no human`)
      rotations.push({ seq, ...payload })
    }
    if (type === 'body_dropped_v1') dropped.add(payload.body)
    if (payload?.assertion !== undefined) {
      checkAssertion(seq, fact.principal, payload)
      checkSignedHistory(seq, stream, payload, leaves)
    }
    if (payload === undefined) references.push({ seq, type, digest, bytes, fact })
    if (fact.record.original) bodies.push({ seq, digest: fact.record.original.body })
    if (payload !== undefined)
      bodies.push(...outputs(seq, payload), ...contents(seq, type, payload))
    leaves.push(sha256(Buffer.of(0), line))
    grow(edge, seq, leaves[seq])
    for (const { what, root } of notes.filter(({ size }) => size === seq + 1)) {
      demand(root.equals(rootOf(edge)), `${what} has another root than the first ${seq + 1} facts`)
    }
  }
  for (const { what, size } of notes) demand(size <= leaves.length, `${what} counts more facts`)
  return { root: rootOf(edge), leaves, rotations, references, bodies, dropped, types }
}

/** Step 4: which key signs which sizes, and that keys.txt says the same. */
function readSchedule(directory, origin, changes, kept) {
  const rows = [...lines(join(directory, 'keys.txt'))].map(String)
  const schedule = [{ from: 1, to: Infinity, key: readKey(rows[0]?.split(' ')[2]) }]
  const current = (text) => schedule.find(({ key, to }) => key.text === text && to === Infinity)
  for (const { seq, change, origin: named, old_key: old, new_key: next, ...more } of changes) {
    const size = more.last_size ?? more.size
    const bound = kept.find((one) => one.size >= size)?.size
    const isKept = bound !== undefined && (change !== undefined || bound === size)
    const follows = named === origin && size === seq + 1 && isKept
    demand(follows, `the change of keys in fact ${seq} does not follow or has no checkpoint`)
    const span = current(change === undefined ? old : more.key)
    demand((span === undefined) === (change === 'joined'), `fact ${seq} changes no key in use`)
    if (change === undefined) {
      schedule.push({ from: size, to: Infinity, key: readKey(next), after: span })
      span.to = size
    } else if (change === 'removed') span.to = seq
    else {
      const key = readKey(more.key)
      demand(!schedule.some((one) => one.key.text === key.text), `fact ${seq} lets a key in again`)
      schedule.push({ from: bound + 1, to: Infinity, key })
    }
  }
  const show = ({ from, to, key }) => `${from} ${to === Infinity ? '-' : to} ${key.text}`
  demand(schedule.map(show).join() === rows.join(), 'keys.txt lists other keys than the facts')
  const areOwn = schedule.every(({ key }) => key.name === origin)
  demand(areOwn, 'a key is foreign')
  return schedule
}

/** A key that a machine joined with counts only if it signed: a forger names keys of others as well. */
function checkPinned(schedule, pinned, notes) {
  const signers = notes.flatMap(({ signatures }) => signatures.map(({ name, id }) => name + id))
  const hasSigned = ({ name, bytes }) => signers.includes(name + idOf(name, bytes))
  const counts = ({ key, from, after }) => from === 1 || after !== undefined || hasSigned(key)
  const isPinned = ({ key }) => pinned.some(({ bytes }) => bytes.equals(key.bytes))
  demand(schedule.filter(counts).some(isPinned), 'none of the pinned keys has signed')
}

/** The bodies that the redacted outputs of a sandbox or a participant name. */
function outputs(seq, { outputs: told, raw, answer }) {
  const texts = [told?.stdout, told?.stderr, raw, answer?.document?.artifact?.content]
  const found = texts.join(' ').matchAll(/(?<=\bbody:)sha256:[0-9a-f]{64}/g)
  return Array.from(found, ([digest]) => ({ seq, digest }))
}

/** What a payload names by its plain digest. */
function contents(seq, type, { body, laws, lists, comparison, diff, flow_digest: flow }) {
  const named = {
    laws_v1: [body, lists],
    evaluation_v1: [laws, lists, ...(comparison?.steps ?? []).map(({ manifest }) => manifest)],
    sandbox_result_v1: [diff?.manifest],
    flow_started_v1: [flow],
  }
  return (named[type] ?? []).map((digest) => ({ seq, digest }))
}

const ANSWERS = new Set(['confirmation_v1', 'passkey_proof_v1'])

/** Step 6, and 8 for long records. */
function checkObjects(directory, { references, bodies, dropped, leaves }, areIncluded) {
  const folder = join(directory, 'objects')
  for (const { seq, type, digest, bytes, fact } of references) {
    const file = join(folder, String(digest).slice(7))
    const isThere = existsSync(file)
    demand(isThere || !ANSWERS.has(type), `the answer in fact ${seq} is not there`)
    if (!isThere) continue
    const payload = readCanonical(readFileSync(file), `the payload of fact ${seq}`)
    demand(statSync(file).size === bytes, `the payload of fact ${seq} has another length`)
    if (payload.assertion !== undefined) {
      checkAssertion(seq, fact.principal, payload)
      checkSignedHistory(seq, fact.stream, payload, leaves)
    }
    bodies.push(...outputs(seq, payload), ...contents(seq, type, payload))
  }
  for (const { seq, digest } of areIncluded ? [...references, ...bodies] : references) {
    const file = join(folder, isDigest(digest) ? digest.slice(7) : '')
    if (!existsSync(file)) demand(dropped.has(digest), `what fact ${seq} names is missing`)
    else demand(hex(sha256(readFileSync(file))) === digest, `what fact ${seq} names is another`)
  }
}

/** Step 7. */
function checkProofs(directory, extent, { root, leaves }, kept) {
  const size = leaves.length
  const seqs = extent === 'all' ? [...leaves.keys()] : [0, size - 1]
  const wanted = seqs.map((seq) => [{ type: 'inclusion', seq, size }, null])
  wanted.push(...kept.map((one) => [{ type: 'consistency', from: one.size, to: size }, one.root]))
  const found = [...lines(join(directory, 'proofs.jsonl'))]
  demand(found.length === wanted.length, 'there are other proofs than there should be')
  wanted.forEach(([head, oldRoot], at) => {
    const { path, ...rest } = readCanonical(found[at], `proof ${at}`)
    demand(canonical(rest) === canonical(head) && path.every(isDigest), `proof ${at} is another`)
    const hashes = path.map((text) => Buffer.from(text.slice(7), 'hex'))
    const [old, now] = oldRoot
      ? climbBoth(head.from, size, hashes, oldRoot)
      : [null, climb(head.seq, size, leaves[head.seq], hashes)]
    demand(now.equals(root) && (!oldRoot || old.equals(oldRoot)), `proof ${at} does not hold`)
  })
}

/** The sums of all files: they find damage. Gives the paths. */
function checkSums(directory) {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'SHA256SUMS')
    .map((entry) => relative(directory, join(entry.parentPath ?? entry.path, entry.name)))
    .sort()
  const sum = (file) => sha256(readFileSync(join(directory, file))).toString('hex')
  const wanted = files.map((file) => `${sum(file)}  ${file}\n`).join('')
  demand(String(readFileSync(join(directory, 'SHA256SUMS'))) === wanted, 'SHA256SUMS does not fit')
  return files
}

function examine(directory, pinned, anchor, report) {
  const files = checkSums(directory)
  const [line, ...more] = lines(join(directory, 'manifest.json'))
  const manifest = readCanonical(line, 'the manifest')
  const { origin, stream, size, root, format, inclusion_proofs: extent } = manifest
  const isKnown = Object.keys(manifest).join() === MANIFEST && format === 'writ-bundle/1'
  demand(isKnown && more.length === 0 && origin.endsWith(`/${stream}`), 'another manifest')
  const read = (file) => readNote(readFileSync(join(directory, file)), file)
  const head = read('checkpoint.txt')
  const kept = files.filter((file) => file.startsWith('checkpoints/')).map(read)
  kept.sort((one, other) => one.size - other.size)
  const anchors = anchor === null ? [] : [readAnchor(Buffer.from(anchor), origin, stream)]
  const notes = [head, ...kept, ...anchors]
  const isOwn = (one) => one.origin === origin && (one.signedAs ?? one.more.length === 0)
  demand(notes.every(isOwn), 'a checkpoint is of another origin')
  const facts = readFacts(directory, stream, notes)
  Object.assign(report, { size: facts.leaves.length, root: hex(facts.root) })
  const isOfFacts = size === report.size && root === report.root && head.size === size
  demand(isOfFacts, 'the newest checkpoint or the manifest is not of these facts')
  const schedule = readSchedule(directory, origin, facts.rotations, kept)
  for (const note of notes) checkNote(note, schedule, !anchors.includes(note))
  checkPinned(schedule, pinned, [head, ...kept])
  checkObjects(directory, facts, manifest.bodies === 'included')
  checkProofs(directory, extent, facts, kept)
  for (const type of facts.types) demand(files.includes(`schemas/${type}.json`), `no ${type}`)
}

export function verifyBundle(directory, { keys, anchor = null }) {
  const report = { ok: false, anchored: false, size: 0, root: hex(sha256('')), problems: [] }
  try {
    examine(directory, keys.map(readKey), anchor, report)
    return { ...report, ok: true, anchored: anchor !== null }
  } catch (error) {
    return { ...report, problems: [error.message] }
  }
}
