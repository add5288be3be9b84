#!/usr/bin/env node
/**
 * Runs the contract vectors against any program that speaks writ's command line: `PROGRAM check` and
 * `PROGRAM normalize` with `--jsonl` envelopes; for texts `PROGRAM check --json FILE FILE…`, or `-` for a
 * single one.
 *
 *   node spec/vectors/run.mjs -- npx writ
 *
 * Standard library only. Fresh ids and times of the program are matched, not compared: each id of the
 * vectors' own form stands for one UUID throughout a case, and their time for any time.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const FOLDER = join(dirname(fileURLToPath(import.meta.url)), 'contracts')
const FRESH_ID = /^00000000-0000-4000-8000-\d{12}$/
const FRESH_TIME = '2026-01-01T00:00:00.000Z'
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const program = process.argv.slice(process.argv.indexOf('--') + 1)
if (!process.argv.includes('--') || program.length === 0) {
  console.error('usage: node spec/vectors/run.mjs -- PROGRAM [ARGUMENTS…]')
  process.exit(2)
}

const cases = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.json'))
  .sort()
  .flatMap((name) => {
    const { bases = {}, cases } = JSON.parse(readFileSync(join(FOLDER, name), 'utf8'))
    return cases.map((row) => ({ ...row, bases }))
  })
const failures = [
  ...runLines(['check', '--jsonl'], cases.filter(({ run, text }) => run !== 'normalise' && text === undefined), checked),
  ...runLines(['normalize', '--jsonl'], cases.filter(({ run, text }) => run === 'normalise' && text === undefined), normalised),
  ...textGroups().flatMap((rows) => (rows.length === 1 || rows[0].run === 'normalise' ? rows.flatMap(runText) : runTexts(rows))),
]
for (const { id, want, got } of failures) {
  console.log(`FAIL ${id}\n  want ${JSON.stringify(want)}\n  got  ${JSON.stringify(got)}`)
}
console.log(`${cases.length - failures.length} passed, ${failures.length} failed`)
process.exit(failures.length === 0 ? 0 : 1)

function call(args, input) {
  const [command, ...first] = program
  const { stdout, error } = spawnSync(command, [...first, ...args], { input, encoding: 'utf8', maxBuffer: 1 << 30 })
  if (error !== undefined) throw error
  return stdout
}

/** One process for all cases, one line a case. */
function runLines(args, rows, compare) {
  const input = rows.map((row) => `${JSON.stringify(envelope(row))}\n`).join('')
  const answers = call(args, input).trimEnd().split('\n')
  return rows.flatMap((row, index) => {
    const got = answers[index] === undefined ? null : JSON.parse(answers[index])
    return compare(row, got) ? [] : [{ id: row.id, want: row.want, got }]
  })
}

/** Texts that are called with the same words. */
function textGroups() {
  const groups = new Map()
  for (const row of cases.filter(({ text }) => text !== undefined)) {
    const words = `${row.run} ${row.as}`
    groups.set(words, [...(groups.get(words) ?? []), row])
  }
  return [...groups.values()]
}

/** One process for all texts, one file a text. */
function runTexts(rows) {
  const folder = mkdtempSync(join(tmpdir(), 'vectors-'))
  try {
    const names = rows.map((row, index) => {
      const name = join(folder, `${index}.json`)
      writeFileSync(name, row.text)
      return name
    })
    const named = rows[0].as === undefined ? [] : ['--as', rows[0].as]
    const { files } = JSON.parse(call(['check', '--json', ...named, ...names], ''))
    return rows.flatMap((row, index) => (checked(row, files[index]) ? [] : [{ id: row.id, want: row.want, got: files[index] }]))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function runText(row) {
  const [command, compare] = row.run === 'normalise' ? ['normalize', normalised] : ['check', checked]
  const named = row.as === undefined ? [] : ['--as', row.as]
  const got = JSON.parse(call([command, '--json', ...named, '-'], row.text))
  return compare(row, got) ? [] : [{ id: row.id, want: row.want, got }]
}

function envelope(row) {
  const { as, context } = row
  return { ...(as === undefined ? {} : { as }), ...(context === undefined ? {} : { context }), document: documentOf(row, row.bases) }
}

function documentOf({ from, document, remove, set }, bases) {
  return from === undefined ? document : changed(bases[from], remove, set)
}

function changed(base, remove = [], set = {}) {
  let document = structuredClone(base)
  for (const pointer of remove) {
    const [parent, key] = place(document, pointer)
    if (Array.isArray(parent)) parent.splice(Number(key), 1)
    else delete parent[key]
  }
  for (const [pointer, value] of Object.entries(set)) {
    if (pointer === '') {
      document = value
      continue
    }
    const [parent, key] = place(document, pointer)
    if (Array.isArray(parent) && key === '-') parent.push(value)
    else Object.defineProperty(parent, key, { value, enumerable: true, writable: true, configurable: true })
  }
  return document
}

function place(document, pointer) {
  const steps = pointer.slice(1).split('/').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const key = steps.pop()
  return [steps.reduce((parent, step) => parent[step], document), key]
}

function checked({ want }, got) {
  if (got?.valid !== want.valid) return false
  if ('contract' in want && got.contract !== want.contract) return false
  const places = got.violations.map(({ code, path }) => ({ code, path }))
  if (JSON.stringify(places) !== JSON.stringify(want.violations ?? [])) return false
  const hints = got.violations.map(({ hint }) => hint ?? '').join('\n')
  return (want.hints ?? []).every((word) => hints.includes(word))
}

function normalised({ want, bases }, got) {
  if (got?.valid !== want.valid) return false
  const known = new Map()
  const document = 'normalized' in want ? want.normalized : want.from === undefined ? undefined : changed(bases[want.from], want.remove, want.set)
  if (document !== undefined && !matches(document, got.normalized, known)) return false
  if (want.rules !== undefined && JSON.stringify(want.rules) !== JSON.stringify(got.repairs.map(({ rule }) => rule))) return false
  if (want.error === undefined) return true
  if (want.error === null) return got.error === null
  return Object.entries(want.error).every(([key, value]) => matches(value, got.error?.[key], known))
}

/** Equal as JSON values, but for fresh ids and the time. */
function matches(want, got, known) {
  if (typeof want === 'string') return matchesText(want, got, known)
  if (typeof want !== 'object' || want === null) return want === got
  if (typeof got !== 'object' || got === null || Array.isArray(want) !== Array.isArray(got)) return false
  const keys = Object.keys(want)
  if (keys.length !== Object.keys(got).length) return false
  return keys.every((key) => Object.hasOwn(got, key) && matches(want[key], got[key], known))
}

function matchesText(want, got, known) {
  if (want === got) return true
  if (want === FRESH_TIME) return typeof got === 'string' && !Number.isNaN(Date.parse(got))
  if (!FRESH_ID.test(want)) return typeof got === 'string' && matchesTitle(want, got)
  if (typeof got !== 'string' || !UUID.test(got)) return false
  if (!known.has(want)) known.set(want, got)
  return known.get(want) === got
}

/** A placeholder's title names the first eight signs of its fresh id. */
function matchesTitle(want, got) {
  return want === 'AUTO: missing node 00000000' && /^AUTO: missing node [0-9a-f]{8}$/.test(got)
}
