/**
 * Chapter of the tour: a scripted agent works in a session. Its honest change becomes real, a deletion that
 * was not asked for waits, a hidden side effect is blocked; Ann answers, and takes the act back.
 */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { MAIN_STREAM } from '../../ledger/index.ts'
import type { GateSurface } from '../../service/index.ts'
import {
  AgentHome,
  runSession,
  SessionFiles,
  type SessionTerms,
  type Settled,
  sessionDescriptor,
} from '../../sessions/index.ts'
import { probeView } from '../../view/index.ts'
import { ownBin } from '../hooks/own-program.ts'
import { settledLines } from '../session/session-text.ts'
import { ANN, type Chapter, type DemoOutput, inShop, type Shop } from './demo-output.ts'
import { DESCRIPTOR } from './documents.ts'

const FILES: Readonly<Record<string, string>> = {
  'prices.txt': 'tea 3\ncake 4\n',
  'notes/ideas.txt': 'the only copy\n',
}

/** What the agent does when it is asked for the sum of the prices. */
const SCRIPT = [
  'echo "tea and cake: 7" > total.txt',
  'rm notes/ideas.txt',
  'cp /bin/true helper; chmod u+s helper',
].join('; ')

export const sessionChapter: Chapter = {
  title: 'Sessions: an agent works inside the gate',
  play: (stage) =>
    inShop(FILES, async (shop) => {
      const { status } = await probeView(shop.driver, shop.home.state)
      if (status === 'absent') {
        stage.answer(stage.paint.dim('not played: the kernel of this machine has no live views'))
        return
      }
      await playSession(stage, shop, await shop.gateOf(ANN))
    }),
}

async function playSession(stage: DemoOutput, shop: Shop, gate: GateSurface): Promise<void> {
  const { project } = shop
  stage.say('Ann lets a coding agent add up some prices. It does that, tidies her notes away, and')
  stage.say('leaves a program behind that would run with the rights of its owner.')
  stage.command('writ run -- agent "add up the prices"')
  const settles: Settled[] = []
  let question: string | null = null
  const end = await runAgent(shop, gate, {
    onSettled: (settled) => settles.push(settled),
    askAtEnd: async (actionId) => {
      question = actionId
    },
  })
  if (end.kind === 'refused') {
    stage.answer(stage.paint.dim(`not played: ${end.answer.decision.code}`))
    return
  }
  const lines = settles
    .flatMap((settled) => settledLines(settled, 'ID'))
    .map((line) => `writ run: ${line}`)
  stage.answer(lines.join('\n').replaceAll(`${project}/`, ''))
  const isThere = (path: string): boolean => existsSync(join(project, path))
  stage.expect(isThere('total.txt'), 'the honest change is real')
  stage.expect(isThere('notes/ideas.txt') && question !== null, 'the deletion waits')
  stage.expect(
    !isThere('helper') && settles.some(({ blocked }) => blocked !== null),
    'one is blocked',
  )
  if (question === null) return
  stage.say('The sum is in the real tree. The note is still there: its deletion waits for Ann, who')
  stage.say('approves it and then thinks better of it.')
  stage.command('writ approve')
  const approved = await gate.answer(question, { kind: 'yes', assurance: 'terminal' })
  stage.expect(approved.promoted && !isThere('notes/ideas.txt'), 'the deletion is promoted')
  stage.answer(`${stage.paint.good('promoted')}  1 deleted`)
  stage.command('writ undo')
  const { verified } = await gate.rollback({ last: true }, { dryRun: false })
  stage.expect(verified && isThere('notes/ideas.txt'), 'the note is back')
  stage.answer(`${stage.paint.good('restored')}  notes/ideas.txt, proven by hashes`)
}

type Heard = Pick<Parameters<typeof runSession>[0], 'askAtEnd' | 'onSettled'>

async function runAgent({ home, around, project }: Shop, gate: GateSurface, heard: Heard) {
  const terms = termsOf(project)
  return runSession({
    gate,
    files: new SessionFiles(home, terms.session_id),
    terms,
    agentHome: await AgentHome.open(home, terms.agent, null, around.userDirectory),
    environment: around.env,
    userDirectory: around.userDirectory,
    hookPrograms: [],
    heldPrograms: join(ownBin(), 'held'),
    prices: [],
    secretOf: () => null,
    modelUrl: undefined,
    env: {},
    live: { stdin: 'empty', terminal: null, onOutput: () => undefined },
    isResumed: false,
    abort: new AbortController().signal,
    nowMs: Date.now,
    onStarted: () => undefined,
    onEnded: () => undefined,
    onNotes: () => undefined,
    onRefused: () => undefined,
    ...heard,
  })
}

function termsOf(project: string): SessionTerms {
  const started_at = new Date().toISOString()
  const scope = [project]
  return {
    session_id: randomUUID(),
    agent: 'agent',
    argv: ['sh', '-c', SCRIPT],
    cwd: project,
    workspace: project,
    scope,
    hosts: [],
    is_declared: false,
    settle: 'end',
    stream: MAIN_STREAM,
    started_at,
    limits: { memory_mb: 512, disk_mb: 256, seconds: 120 },
    descriptor: sessionDescriptor({
      actionId: randomUUID(),
      createdAt: started_at,
      agent: 'agent',
      scope,
      resources: DESCRIPTOR.resources,
      hosts: [],
      create: [`${project}/**`],
      modify: [],
      remove: [],
    }),
  }
}
