/** Chapter of the tour: a task, its receipt, a proof, and a tampered copy that is caught. */
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { invariant } from '../../base/index.ts'
import {
  type Caller,
  decodeHex,
  judgeReceipt,
  judgeTask,
  MAIN_STREAM,
  type Principal,
  proveFact,
  verifyInclusion,
} from '../../ledger/index.ts'
import { removeTreeSync } from '../../machine/index.ts'
import { createLedger, type Ledger, openLedger, verifyLedger } from '../../store/index.ts'
import { violationText } from '../call/terminal.ts'
import type { Chapter, DemoOutput } from './demo-output.ts'
import { RECEIPT, TASK } from './documents.ts'

const ANN: Caller = { principal: human(), streams: null, proof: 'none' }
const PUMP: Caller = {
  principal: { kind: 'device', id: 'pump-3', namespace: 'north-farm' },
  streams: [MAIN_STREAM],
  proof: 'token',
}
const BOT: Caller = { ...PUMP, principal: { kind: 'ai', id: 'planner', namespace: 'north-farm' } }

function human(): Principal {
  return { kind: 'human', id: 'ann', namespace: 'north-farm' }
}

const FILL = { actTaskId: TASK.act_task_id, createdAtMs: TASK.created_at_ts }

export const ledgerChapter: Chapter = {
  title: 'Facts: what happened is appended, and cannot be changed without it showing',
  async play(stage) {
    const directory = mkdtempSync(join(tmpdir(), 'writ-demo-'))
    try {
      const place = join(directory, 'state')
      await createLedger({ directory: place }, 'writ/demo', {
        principal: ANN.principal,
        source: 'demo',
      })
      const ledger = await openLedger({ directory: place })
      try {
        await playTask(stage, ledger)
        await playReceipt(stage, ledger)
        await playProof(stage, ledger)
      } finally {
        await ledger.close()
      }
      await playTampering(stage, place, join(directory, 'copy'))
    } finally {
      removeTreeSync(directory)
    }
  },
}

async function playTask(stage: DemoOutput, ledger: Ledger): Promise<void> {
  stage.say('A planner wants to irrigate. It may say so, but a task is a human’s to issue.')
  stage.command('WRIT_TOKEN=… writ task issue task.json      # as the planner')
  const refused = judgeTask(TASK, BOT, FILL)
  stage.expect(!refused.ok, 'an AI cannot issue a task')
  if (!refused.ok) {
    stage.answer(refused.violations.map((one) => violationText(one, stage.paint)).join('\n'))
  }
  stage.say('Ann issues it herself.')
  stage.command('writ task issue task.json')
  const answer = judgeTask(TASK, ANN, FILL)
  stage.expect(answer.ok, 'Ann can issue the task')
  const seq = await record(ledger, ANN, 'ao_act_task_v0', TASK)
  stage.answer(`${stage.paint.good('issued')}  ${TASK.act_task_id}  main/${seq}`)
}

async function playReceipt(stage: DemoOutput, ledger: Ledger): Promise<void> {
  stage.say('The pump does the work and answers with its own token.')
  stage.command('WRIT_TOKEN=… writ receipt submit receipt.json')
  const answer = judgeReceipt(RECEIPT, PUMP, TASK, TASK.created_at_ts)
  stage.expect(answer.ok, 'the pump’s receipt is taken')
  const seq = await record(ledger, PUMP, 'ao_act_receipt_v0', RECEIPT, { task: TASK })
  stage.answer(`${stage.paint.good('recorded')}  main/${seq}`)
}

async function record(
  ledger: Ledger,
  { principal }: Caller,
  type: string,
  payload: unknown,
  context = {},
): Promise<number> {
  const entry = { stream: MAIN_STREAM, source: 'demo', principal, record: { type, payload } }
  const recorded = await ledger.record({ ...entry, context })
  invariant(recorded.ok, 'the documents of the tour are valid')
  return recorded.appended.seq
}

async function playProof(stage: DemoOutput, ledger: Ledger): Promise<void> {
  stage.say('A few hashes and a signature prove that the receipt is in the history.')
  stage.command('writ ledger prove 1')
  const proof = await proveFact(ledger.store, MAIN_STREAM, 1)
  invariant(proof !== null, 'the receipt was recorded')
  const bytes = (text: string): Uint8Array =>
    decodeHex(text.slice('sha256:'.length)) ?? new Uint8Array()
  const holds = verifyInclusion({
    index: proof.seq,
    size: proof.size,
    leaf: bytes(proof.leaf),
    path: proof.path.map(bytes),
    root: bytes(proof.root),
  })
  stage.expect(holds, 'the proof leads to the root of the signed checkpoint')
  stage.answer(
    [
      `leaf  ${short(proof.leaf)}`,
      ...proof.path.map((hash) => `    + ${short(hash)}`),
      `root  ${short(proof.root)}`,
    ].join('\n'),
  )
}

const short = (digest: string): string => `${digest.slice(0, 23)}…`

/** Twelve millimetres become forty, in the bytes of the file, behind the back of every guard. */
async function playTampering(stage: DemoOutput, place: string, copy: string): Promise<void> {
  stage.say('A copy of the file is edited: 12 mm of water become 40.')
  cpSync(place, copy, { recursive: true })
  const file = join(copy, 'ledger.db')
  const bytes = readFileSync(file, 'latin1')
  writeFileSync(file, bytes.replaceAll('"water_mm":12', '"water_mm":40'), 'latin1')
  stage.command('writ ledger verify')
  const original = await verifyLedger({ directory: place }, { contracts: true })
  const report = await verifyLedger({ directory: copy }, { contracts: true })
  stage.expect(original.ok && !report.ok, 'the original holds and the copy does not')
  const [problem] = report.problems
  stage.answer(
    [
      `original  ${stage.paint.good('holds')}  ${original.checked} facts`,
      `copy      ${stage.paint.bad('broken')}  ${problem?.code}  ${problem?.message}`,
    ].join('\n'),
  )
}
