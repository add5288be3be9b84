/** Every door of the built package, bundled for a browser and used in Chromium (docs/library.md). */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { build } from 'esbuild'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import * as constitution from '../../src/constitution/index.ts'
import * as contracts from '../../src/contracts/index.ts'
import * as flow from '../../src/flow/index.ts'
import * as gate from '../../src/gate/index.ts'
import * as root from '../../src/index.ts'
import * as ledger from '../../src/ledger/index.ts'
import { ensureBuilt } from '../built.ts'
import { loadEvaluationVectors } from '../vectors/evaluation-vector.ts'
import { loadDecisions } from '../vectors/gate-vector.ts'
import { changed } from '../vectors/vector.ts'
import * as exercises from './exercises.ts'

vi.setConfig({ testTimeout: 120_000 })

const BROWSER = '/usr/bin/chromium'
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--no-first-run',
]

/** A part of a vector file; only what is read of it. */
// biome-ignore lint/suspicious/noExplicitAny: vector files are checked by their own tests
type Rows = any

const vectors = (name: string): Rows =>
  JSON.parse(readFileSync(`spec/vectors/${name}.json`, 'utf8'))

const { bases: tasks, cases: taskCases } = vectors('contracts/task')
const DOCUMENTS = taskCases
  .filter(({ from }: Rows) => from !== undefined)
  .map(({ from, remove, set }: Rows) => ({
    contract: 'ao_act_task_v0',
    document: changed(tasks[from], remove, set),
  }))
const RULES = loadEvaluationVectors('spec/vectors/constitution').map((one) => ({
  rulesets: one.rulesets,
  context: one.context,
  inputs: one.inputs,
  at: one.at,
}))
const LEDGER = {
  notes: [
    ...vectors('ledger/note').cases.filter(({ signed }: Rows) => signed !== undefined),
    ...vectors('ledger/checkpoint')
      .cases.filter(({ signed, key }: Rows) => signed !== undefined && key !== undefined)
      .map(({ signed, key }: Rows) => ({ signed, keys: [key] })),
  ],
  proofs: vectors('ledger/proof').cases.filter(({ kind }: Rows) => kind === 'inclusion'),
}
const JUDGEMENTS = loadDecisions('spec/vectors/gate/decision.json').map(({ judgement }) => {
  const { lists: _, ...rest } = judgement
  return rest
})
const { bases: flows, cases: flowCases } = vectors('flow/checks')
const FLOWS = flowCases.map(({ from, document, remove, set }: Rows) =>
  from === undefined ? document : changed(flows[from], remove, set),
)

/** Each door: its exercise, what the exercise is given, and the answer of the sources on Node. */
const DOORS: readonly (readonly [string, string, unknown, () => unknown])[] = [
  ['writ', 'root', FLOWS, () => exercises.root(root, FLOWS)],
  ['writ/contracts', 'contracts', DOCUMENTS, () => exercises.contracts(contracts, DOCUMENTS)],
  ['writ/constitution', 'constitution', RULES, () => exercises.constitution(constitution, RULES)],
  ['writ/ledger', 'ledger', LEDGER, () => exercises.ledger(ledger, LEDGER)],
  // The exercise adds the lists itself.
  ['writ/gate', 'gate', JUDGEMENTS, () => exercises.gate(gate, JUDGEMENTS as never)],
  ['writ/flow', 'flow', FLOWS, () => exercises.flow(flow, FLOWS)],
]

async function bundled(door: string, exercise: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: `import * as door from '${door}'
        import { ${exercise} as exercise } from './exercises.ts'
        globalThis.answerOf = (given) => exercise(door, given)`,
      resolveDir: resolve('tests/library'),
    },
    bundle: true,
    platform: 'browser',
    format: 'iife',
    write: false,
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}

describe('in a browser', () => {
  let browser: Browser
  let page: Page
  const server = createServer((_, answer) =>
    answer.setHeader('content-type', 'text/html').end('<!doctype html><title>doors</title>'),
  )

  beforeAll(async () => {
    ensureBuilt()
    browser = await chromium.launch({ executablePath: BROWSER, args: FLAGS })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  }, 180_000)

  afterAll(async () => {
    await browser?.close()
    server.close()
  })

  it.each(DOORS)('%s answers as on Node', async (door, exercise, given, onNode) => {
    page = await browser.newPage()
    // The server listens on a port of its own.
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    const script = await bundled(door, exercise)
    await page.addScriptTag({ content: script })
    const answer = await page.evaluate(
      (text) => JSON.stringify(Reflect.get(globalThis, 'answerOf')(JSON.parse(text))),
      JSON.stringify(given),
    )
    await page.close()
    const wanted = JSON.parse(JSON.stringify(onNode()))
    expect(JSON.parse(answer)).toEqual(wanted)
    expect(wanted).not.toEqual([])
  })
})
