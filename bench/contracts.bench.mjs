/**
 * Contracts against ajv and zod in one run: full checks of ours (structure and semantics) against
 * the structure alone of theirs, and `check --jsonl` against bare JSON.parse.
 */
import { spawn } from 'node:child_process'
import { appendFileSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { z } from 'zod'
import {
  checkDocument,
  findContract,
  judge,
  publishSchema,
  validate,
} from '../dist/contracts/index.js'
import { descriptors, task, tasks } from './contracts-documents.mjs'
import { bestRates, row } from './measure.mjs'

export const title = 'contracts'

export async function measure() {
  return [
    ...checks('ao_act_task_v0', tasks),
    ...checks('action_descriptor', descriptors),
    ...(await lines()),
  ]
}

/** All competitors judge the same documents in turn and must agree that they are valid. */
function checks(name, documents) {
  const contract = findContract(name)
  const schema = publishSchema(contract)
  const ajv = new Ajv2020({ strict: false, allErrors: false }).compile(schema)
  const shape = z.fromJSONSchema(schema)
  for (const document of documents) {
    const verdicts = [
      validate(contract, document).valid,
      ajv(document),
      shape.safeParse(document).success,
    ]
    if (verdicts.includes(false)) throw new Error(`writ, ajv, zod on a ${name}: ${verdicts}`)
  }
  const each = (judgeOne) => {
    let index = 0
    return () => judgeOne(documents[index++ % documents.length])
  }
  const rates = bestRates({
    judge: each((document) => judge(contract, document)),
    ajv: each((document) => ajv(document)),
    validate: each((document) => validate(contract, document)),
    zod: each((document) => shape.safeParse(document)),
  })
  return [
    row(
      `${name}: structure and semantics`,
      'judge',
      rates.judge,
      'ajv, structure only',
      rates.ajv,
      null,
    ),
    row(
      `${name}: structure and semantics`,
      'judge',
      rates.judge,
      'zod, structure only',
      rates.zod,
      null,
    ),
    row(
      `${name}: the same, of any value`,
      'validate',
      rates.validate,
      'ajv, structure only',
      rates.ajv,
      null,
    ),
  ]
}

const LINES = 100_000
const MANY_LINES = 1_000_000

async function lines() {
  const envelopes = Array.from({ length: LINES }, (_, index) =>
    JSON.stringify({ as: 'ao_act_task_v0', document: { ...task, act_task_id: `act-${index}` } }),
  )
  const folder = mkdtempSync(join(tmpdir(), 'writ-bench-'))
  try {
    const file = join(folder, 'lines.jsonl')
    writeFileSync(file, `${envelopes.join('\n')}\n`)
    const parse = median(3, () => timed(() => envelopes.map((line) => JSON.parse(line)).length))
    const runs = []
    for (let index = 0; index < 3; index++) runs.push(await checkFile(file))
    const check = runs.map(({ seconds }) => seconds).sort((a, b) => a - b)[1]
    const many = join(folder, 'many.jsonl')
    for (let part = 0; part < MANY_LINES / LINES; part++)
      appendFileSync(many, `${envelopes.join('\n')}\n`)
    const long = await checkFile(many)
    const first = runs[0].peakMb
    return [
      row(
        'check --jsonl, 100,000 tasks',
        'whole process',
        LINES / check,
        'JSON.parse of the lines',
        LINES / parse,
        1 / 3,
      ),
      row(
        'check --jsonl, peak memory',
        '100,000 lines (MB)',
        first,
        '1,000,000 lines (MB)',
        long.peakMb,
        0.75,
      ),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function timed(work) {
  const started = performance.now()
  work()
  return (performance.now() - started) / 1000
}

function median(times, measureOnce) {
  return Array.from({ length: times }, measureOnce).sort((a, b) => a - b)[times >> 1]
}

/** Runs the command as a user would, its output to nowhere, and watches its resident memory. */
function checkFile(file) {
  return new Promise((resolve, reject) => {
    const sink = openSync('/dev/null', 'w')
    const started = performance.now()
    const child = spawn(
      '/usr/bin/env',
      ['node', '--expose-gc', 'bench/peak.mjs', 'check', '--jsonl', file],
      {
        stdio: ['ignore', sink, 'pipe'],
      },
    )
    let text = ''
    child.stderr.on('data', (chunk) => {
      text += chunk
    })
    child.on('error', reject)
    child.on('close', (status) => {
      if (status !== 0) reject(new Error(`check ended with ${status}: ${text}`))
      else
        resolve({
          seconds: (performance.now() - started) / 1000,
          peakMb: Number(/peak (\d+)/.exec(text)[1]),
        })
    })
  })
}

// The library's own door must give the same answer as the contract in hand.
if (!checkDocument(task).valid) throw new Error('the bench document is not detected')
