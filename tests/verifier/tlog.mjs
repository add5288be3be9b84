/**
 * Independent checks of C2SP texts: cosigned checkpoints and tlog-proofs. Written from the C2SP pages
 * alone, with the standard library of Node.js and nothing of the program that wrote the texts.
 */
import { createHash, createPublicKey, verify } from 'node:crypto'

const sha256 = (...parts) =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest()
const node = (left, right) => sha256(Buffer.of(1), left, right)
function demand(condition, message) {
  if (!condition) throw new Error(message)
}

function base64(text) {
  const bytes = Buffer.from(text ?? '', 'base64')
  demand(bytes.toString('base64') === text, `${text} is not base64`)
  return bytes
}

/** A key NAME+ID+BASE64 of type 1 (a log) or 4 (a witness). */
function readKey(text, type) {
  const [, name, id, encoded] = /^([^+\s]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text) ?? []
  const content = base64(encoded)
  demand(content.length === 33 && content[0] === type, `${text} is no key of type ${type}`)
  demand(sha256(`${name}\n`, content).toString('hex', 0, 4) === id, `${text} has another id`)
  const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), content.subarray(1)])
  return { name, id, object: createPublicKey({ key: spki, format: 'der', type: 'spki' }) }
}

function readNote(note) {
  const split = note.lastIndexOf('\n\n')
  const text = note.slice(0, split + 1)
  const [origin, size, root] = text.split('\n')
  const signatures = note
    .slice(split + 2, -1)
    .split('\n')
    .map((line) => {
      const [, name, content] = /^\u2014 (\S+) (\S+)$/.exec(line) ?? []
      const bytes = base64(content)
      return { name, id: bytes.toString('hex', 0, 4), bytes: bytes.subarray(4) }
    })
  demand(/^(0|[1-9]\d*)$/.test(size), 'the size is no number')
  return { text, origin, size: Number(size), root: base64(root), signatures }
}

const ofKey = (signatures, key) =>
  signatures.filter(({ name, id }) => name === key.name && id === key.id)

/** Demands the signature of the log and a cosignature of each witness; returns the times in seconds. */
export function checkCosigned(note, logKey, witnessKeys) {
  const { text, origin, size, root, signatures } = readNote(note)
  const log = readKey(logKey, 1)
  demand(log.name === origin, 'the key is of another log')
  const [own] = ofKey(signatures, log)
  demand(own && verify(null, Buffer.from(text), log.object, own.bytes), 'the log did not sign')
  const times = witnessKeys.map((keyText) => {
    const key = readKey(keyText, 4)
    const [found] = ofKey(signatures, key)
    demand(found?.bytes.length === 72, `${key.name} did not cosign`)
    const seconds = found.bytes.readBigUInt64BE(0)
    const message = Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`)
    demand(verify(null, message, key.object, found.bytes.subarray(8)), `${key.name} did not cosign`)
    return Number(seconds)
  })
  return { origin, size, root, times }
}

/** RFC 6962, 2.1.1, from the leaf up. */
function climb(index, size, leaf, path) {
  if (size === 1) {
    demand(path.length === 0, 'the path is too long')
    return leaf
  }
  demand(path.length > 0, 'the path is too short')
  const middle = 2 ** Math.floor(Math.log2(size - 1))
  const [rest, sibling] = [path.slice(0, -1), path.at(-1)]
  return index < middle
    ? node(climb(index, middle, leaf, rest), sibling)
    : node(sibling, climb(index - middle, size - middle, leaf, rest))
}

/** RFC 8785. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const keys = Object.keys(value).sort()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`
}

/** Demands that the proof shows the fact in a tree that log and witnesses signed. */
export function checkTlogProof(proof, fact, logKey, witnessKeys) {
  const [head = '', note] = [
    proof.slice(0, proof.indexOf('\n\n')),
    proof.slice(proof.indexOf('\n\n') + 2),
  ]
  const [version, ...lines] = head.split('\n')
  demand(version === 'c2sp.org/tlog-proof@v1', 'the first line is not that of a proof')
  if (lines[0]?.startsWith('extra ')) lines.shift()
  const [, index] = /^index (0|[1-9]\d*)$/.exec(lines.shift() ?? '') ?? []
  demand(index !== undefined, 'there is no index')
  const checkpoint = checkCosigned(note, logKey, witnessKeys)
  demand(Number(index) < checkpoint.size, 'the index lies outside of the tree')
  const leaf = sha256(Buffer.of(0), canonical(fact))
  const root = climb(Number(index), checkpoint.size, leaf, lines.map(base64))
  demand(root.equals(checkpoint.root), 'the path leads to another root')
  return { index: Number(index), ...checkpoint }
}
