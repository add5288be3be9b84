/** Everything that the command line can do, over HTTP (H-2): each route is called for real. */
import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Client, ProblemError, ROUTES, type Route } from '../../src/api/index.ts'
import { COMMANDS } from '../../src/cli/commands/table.ts'
import type { Json } from '../cli-gate/place.ts'
import { chain } from '../flow-run/scripts.ts'
import { LOCAL_COMMANDS } from './local-commands.ts'
import { PASSPHRASE, ServicePlace } from './service-place.ts'

const PASSKEY =
  'needs an authenticator, and the name writ.localhost: tests/console/passkeys.test.ts'
const DEVICE = 'a device takes a task: tests/field/served.test.ts'
const UNDER_WAY = 'something is under way first: tests/server/under-way.test.ts'
/** Routes that answer well in another test, which is named. */
const NO_ANSWER_HERE: Readonly<Record<string, string>> = {
  followEvents: 'a stream of events: tests/server/service.test.ts',
  readTile: 'bytes, checked against the checkpoint: tests/server/service.test.ts',
  revokeGrant: UNDER_WAY,
  showSession: UNDER_WAY,
  diffSession: UNDER_WAY,
  settleSession: UNDER_WAY,
  discardSession: UNDER_WAY,
  extendSession: UNDER_WAY,
  stopSession: UNDER_WAY,
  recover: UNDER_WAY,
  makePlan: UNDER_WAY,
  answerNode: UNDER_WAY,
  approveNode: UNDER_WAY,
  rejectNode: UNDER_WAY,
  bringEvidence: UNDER_WAY,
  anchorLedger: UNDER_WAY,
  submitReceipt: UNDER_WAY,
  showChange: UNDER_WAY,
  listDeviceTasks: DEVICE,
  claimTask: DEVICE,
  startTask: DEVICE,
  sayAsDevice: DEVICE,
  showDoor: PASSKEY,
  offerLogin: PASSKEY,
  login: PASSKEY,
  logout: PASSKEY,
  showMe: PASSKEY,
  createChallenge: PASSKEY,
  offerPasskey: PASSKEY,
  addPasskey: PASSKEY,
  listPasskeys: PASSKEY,
  removePasskey: PASSKEY,
  renewRecoveryCodes: PASSKEY,
}

const TABLE: readonly (readonly [string, Route])[] = Object.entries(ROUTES)

describe('the table', () => {
  const served = new Set(TABLE.map(([, { command }]) => command))

  it('has a route for every command, or a reason why not', () => {
    const missing = COMMANDS.map(({ name }) => name).filter(
      (name) => !served.has(name) && LOCAL_COMMANDS[name] === undefined,
    )
    expect(missing).toEqual([])
    const both = Object.keys(LOCAL_COMMANDS).filter((name) => served.has(name))
    expect(both).toEqual([])
    const known = new Set(COMMANDS.map(({ name }) => name))
    expect(Object.keys(LOCAL_COMMANDS).filter((name) => !known.has(name))).toEqual([])
  })

  it.each(TABLE.filter(([, { runs }]) => runs !== undefined))(
    '%s gives its command only options that it has',
    (_name, { command, runs, params, query, body, who }) => {
      const words = COMMANDS.find(({ name }) => name === command)
      const options = new Set(words?.options.map(({ name }) => name.replaceAll('-', '_')))
      const given = [params, query, body as Json].flatMap((part) =>
        Object.keys(part?.properties ?? {}),
      )
      const unknown = given.filter(
        (name) =>
          !options.has(name) &&
          runs?.words?.includes(name) !== true &&
          name !== 'proof' &&
          name !== 'files',
      )
      expect(unknown).toEqual([])
      // A human who is proven to the service is proven to the command, where that asks.
      if (who === 'proven') expect(options.has('pass_fd')).toBe(runs?.takesProof === true)
      expect(given.includes('proof')).toBe(who === 'proven')
      if (runs?.kind !== 'document') expect(options.has('home')).toBe(true)
    },
  )
})

let place: ServicePlace
let bot: string
let asBot: Client
let asAnn: Client
const proof = { passphrase: PASSPHRASE }

beforeAll(async () => {
  place = new ServicePlace('routes')
  bot = place.tokenOf('ai:bot@local')
  const ann = place.writ(['token', 'create', 'human:ann@local', '--json', '--pass-fd', '3'], {
    passphrase: PASSPHRASE,
  }).json.token
  await place.serve()
  asBot = place.client(bot)
  asAnn = place.client(ann)
}, 240_000)

afterAll(async () => {
  await place.end()
  place.remove()
})

async function problemOf(call: Promise<unknown>): Promise<Json> {
  try {
    await call
  } catch (error) {
    if (error instanceof ProblemError) return error.problem
    throw error
  }
  throw new Error('the call went well')
}

const value = async (call: Promise<{ readonly value: unknown }>): Promise<Json> =>
  (await call).value

describe('what is read', () => {
  it.each([
    ['listSessions', {}],
    ['listRuns', { query: {} }],
    ['listSchedules', { query: {} }],
    ['listTasks', { query: { open: true } }],
    ['showLaws', {}],
    ['listGrants', {}],
    ['listPrincipals', {}],
    ['listTokens', {}],
    ['diagnose', {}],
    ['showSettings', { query: { origin: true } }],
    ['showUse', {}],
    ['verifyLedger', { query: {} }],
    ['replay', { query: {} }],
    ['listKeys', { query: {} }],
    ['showCheckpointOfAll', {}],
    ['showSchema', { params: { contract: 'proposal_v1' } }],
  ] as const)(
    '%s',
    async (name, request) => {
      // Requests of routes of several kinds.
      const call = asAnn[name] as (given: Json) => Promise<Json>
      const { status, value: found } = await call(request)
      expect(status).toBe(200)
      expect(Object.keys(found).length).toBeGreaterThan(0)
    },
    60_000,
  )

  it.each([
    'listSessions',
    'listGrants',
    'listPrincipals',
    'listTokens',
    'showUse',
    'verifyLedger',
  ] as const)('%s is for humans', async (name) => {
    const call = asBot[name] as (given: Json) => Promise<Json>
    expect((await problemOf(call({ query: {} }))).code).toBe('principal.not_human')
  })

  it('an unknown name is answered in the words of the command', async () => {
    expect(await problemOf(asAnn.showSession({ params: { id: 'none' } }))).toMatchObject({
      status: 404,
      code: 'session.unknown',
    })
    expect((await problemOf(asBot.showRun({ params: { id: 'run-0' }, query: {} }))).code).toBe(
      'flow.unknown_run',
    )
    const path = '/v1/runs/run-0'
    const { text, headers } = await place.raw({
      path,
      headers: { authorization: `Bearer ${bot}`, accept: 'text/plain' },
    })
    expect(headers['content-type']).toContain('application/problem+json')
    expect(text).not.toContain(place.folder)
  }, 60_000)
})

describe('documents', () => {
  const flow = chain(2)

  it('a flow is checked, drawn, tested, and made of a table', async () => {
    expect(await value(asBot.checkFlow({ body: { flow } }))).toMatchObject({ valid: true })
    const broken = { ...flow, nodes: [] }
    const wrong = await value(asBot.checkFlow({ body: { flow: broken } }))
    expect(wrong.valid).toBe(false)
    const drawing = await value(asBot.exportFlow({ body: { flow, format: 'mermaid' } }))
    expect(drawing).toContain('flowchart')
    const folder = 'examples/flows/tables'
    const edges = readFileSync(join(folder, 'edges.csv'), 'utf8')
    const side = readFileSync(join(folder, 'side.yaml'), 'utf8')
    expect(await value(asBot.importFlow({ body: { edges, side } }))).toContain('flow_id')
    const test = readFileSync(join(folder, 'edges.test.yaml'), 'utf8')
    const tested = await value(
      asBot.testFlow({ body: { test, files: { 'edges.csv': edges, 'side.yaml': side } } }),
    )
    expect(tested.passed).toBe(true)
  }, 120_000)

  it('a document that cannot be drawn or made of a table is refused with its places', async () => {
    const refusals = [
      problemOf(asBot.exportFlow({ body: { flow: {} } })),
      problemOf(asBot.importFlow({ body: { edges: 'x1' } })),
      problemOf(asBot.importFlow({ body: { edges: 'a,b\n1,2\n' } })),
    ]
    const [drawn, ...made] = await Promise.all(refusals)
    expect(drawn).toMatchObject({ status: 422, code: 'flow.required' })
    expect(drawn.violations).toContainEqual(expect.objectContaining({ path: '/nodes' }))
    for (const one of made) expect(one).toMatchObject({ status: 422, code: 'flow.table_column' })
  }, 120_000)

  it('a document that names a file of the machine reads nothing of it', async () => {
    const [first, ...rest] = flow.nodes
    for (const named of ['../../../../etc/hostname', '/etc/passwd', 'laws.yaml']) {
      const nodes = [{ ...first, flow: named }, ...rest]
      const { valid, violations } = await value(
        asBot.checkFlow({ body: { flow: { ...flow, nodes } } }),
      )
      expect([valid, violations[0]?.code]).toEqual([false, 'flow.subflow'])
      expect(violations[0]?.message).toContain('ENOENT')
    }
  }, 60_000)

  it('a document that names a program says nothing of the files of the machine', async () => {
    const [first, ...rest] = flow.nodes
    const answers = ['/etc/hostname', '/etc/no-such-file', '../../no-such-file'].map((file) => {
      const executor = { command: ['node', file] }
      const body = { flow: { ...flow, nodes: [{ ...first, executor }, ...rest] } }
      return value(asBot.checkFlow({ body }))
    })
    const [there, ...others] = await Promise.all(answers)
    for (const one of others) expect(one).toEqual(there)
    expect(there).toMatchObject({ valid: true, notes: [expect.stringContaining('not looked for')] })
  }, 60_000)

  it.each(['checkFlow', 'testFlow', 'exportFlow'] as const)(
    'no name of a file leads out of the folder of a request: %s',
    async (route) => {
      const outside = join(place.project, 'planted.yaml')
      const named = [
        '../../planted.yaml',
        '../planted.yaml',
        outside,
        '..',
        '.profile',
        'a/b',
        'a\n',
      ]
      for (const name of named) {
        const body = { flow, test: 'x: 1', files: { [name]: 'planted' } } as Json
        if (route === 'testFlow') delete body.flow
        else delete body.test
        const refused = await problemOf(asBot[route]({ body }))
        expect([name, refused.status]).toEqual([name, 400])
      }
      expect(existsSync(outside)).toBe(false)
      expect(existsSync(join(tmpdir(), 'planted.yaml'))).toBe(false)
    },
    60_000,
  )

  it('rules are tested, proved, compared, formatted and imported', async () => {
    const folder = 'examples/constitution'
    const read = (name: string) => readFileSync(join(folder, name), 'utf8')
    const rules = [read('apply.yaml'), read('sense.yaml')]
    const [one = ''] = rules
    const proved = await value(asBot.proveRules({ body: { rules, never: 'MAYBE' } })).catch(
      (error: ProblemError) => error.problem,
    )
    expect(proved).toMatchObject({ status: 400 })
    expect(await value(asBot.proveRules({ body: { rules, never: 'ALLOW' } }))).toHaveProperty(
      'proved',
    )
    expect(await value(asBot.diffRules({ body: { old: one, new: one } }))).toMatchObject({
      equal: true,
    })
    expect(await value(asBot.formatRules({ body: { rules: one, to: 'json' } }))).toContain('{')
    const laws = readFileSync(join(place.project, '.writ', 'laws.yaml'), 'utf8')
    expect(await value(asBot.checkLaws({ body: { laws } }))).toMatchObject({
      valid: true,
      in_force: null,
    })
    expect(await value(asBot.testLaws({ body: { laws } }))).toHaveProperty('proposals')
    const learned = await value(asAnn.learnLaws({ query: { since: '30d' } }))
    expect(learned).toMatchObject({ grants: [], refused: [], file: null })
    expect(existsSync(join(place.project, '-'))).toBe(false)
  }, 120_000)

  it('no value of a request is taken for an option', async () => {
    const found = await problemOf(asBot.showTask({ params: { id: '--help' }, query: {} }))
    expect(found.code).toBe('history.unknown')
    const flowed = await value(asBot.checkFlow({ body: { flow, strict: false } }))
    expect(flowed.valid).toBe(true)
  }, 60_000)
})

describe('what a human does', () => {
  it('halts at once, however many commands of an agent wait', async () => {
    const rules = [readFileSync('examples/constitution/apply.yaml', 'utf8')]
    let isHalted = false
    const later: boolean[] = []
    const asked = Array.from({ length: 40 }, () =>
      asBot
        .proveRules({ body: { rules, never: 'ALLOW' } })
        .catch(() => null)
        .then(() => later.push(isHalted)),
    )
    expect(await value(asAnn.halt({ body: {} }))).toMatchObject({ ok: true })
    isHalted = true
    await Promise.all(asked)
    // Most were still waiting, or were refused before: no halt waits for them.
    expect(later.length).toBe(40)
    expect(later).toContain(true)
    expect(await value(asAnn.resume({ body: { proof } }))).toMatchObject({ ok: true })
  }, 120_000)

  it('halts without a proof, and resumes with one', async () => {
    expect((await problemOf(asBot.halt({ body: {} }))).code).toBe('principal.not_human')
    expect(await value(asAnn.halt({ body: { reason: 'smoke' } }))).toMatchObject({ ok: true })
    const without = { body: {} } as Json
    expect(await problemOf(asAnn.resume(without))).toMatchObject({
      status: 403,
      code: 'credential.required',
    })
    const wrong = { body: { proof: { passphrase: 'not the right words' } } }
    expect((await problemOf(asAnn.resume(wrong))).code).toBe('credential.wrong')
    expect(await value(asAnn.resume({ body: { proof } }))).toMatchObject({ ok: true })
  }, 120_000)

  it('takes an action back, after a look at what that would do', async () => {
    const body = place.proposal('taken.txt')
    const { action_id: id } = await value(
      asBot.proposeAction({ query: {}, body, wait: 60 } as Json),
    )
    const dry = await value(
      asAnn.rollBackAction({ params: { id }, body: { dry_run: true, proof } }),
    )
    expect(dry.restored).toEqual([join(place.project, 'taken.txt')])
    expect(place.has('taken.txt')).toBe(true)
    const explained = await value(asBot.explainDecision({ params: { id }, query: {} }))
    expect(explained.decision).toBe('PROMOTE')
    expect((await value(asBot.showRecord({ params: { id }, query: {} }))).kind).toBe('action')
    const back = await value(asAnn.rollBackAction({ params: { id }, body: { proof } }))
    expect(back.action_id).toBe(id)
    expect(place.has('taken.txt')).toBe(false)
    const since = await value(
      asAnn.rollBackSince({ body: { since: '1h', dry_run: true, proof } }),
    ).catch((error: ProblemError) => error.problem)
    expect(since.code ?? 'rollback.nothing').toBe('rollback.nothing')
  }, 180_000)

  it('keeps people, tokens, laws and the home in order', async () => {
    const added = await value(
      asAnn.addPrincipal({ body: { principal: 'device:pump@farm', stream: ['farm'], proof } }),
    )
    expect(added.streams).toEqual(['farm'])
    // No law here asks several humans.
    const agreed = await value(
      asAnn.endorseCredential({ body: { principal: 'human:ann@local', proof } }),
    )
    expect(agreed).toMatchObject({ needed: 1, enough: true })
    const made = await value(
      asAnn.createToken({ body: { principal: 'device:pump@farm', days: 1, proof } }),
    )
    expect(made.token).toMatch(/^writ_/)
    const { tokens } = await value(asAnn.listTokens({}))
    expect(JSON.stringify(tokens)).not.toContain(made.token)
    const { token_id: id } = made
    expect((await value(asAnn.revokeToken({ params: { id }, body: { proof } }))).token_id).toBe(id)
    const used = await problemOf(place.client(made.token).listStreams({}))
    expect([used.status, used.code]).toEqual([401, 'principal.token'])
    const { digest } = await value(asAnn.showLaws({}))
    const other = `sha256:${'0'.repeat(64)}`
    const moved = await problemOf(asAnn.acceptLaws({ body: { digest: other, proof } }))
    expect([moved.status, moved.code]).toEqual([412, 'api.digest_moved'])
    const laws = await value(asAnn.acceptLaws({ body: { digest, proof } }))
    expect(laws.laws).toBe(digest)
    expect((await value(asAnn.showLaws({}))).in_force).toBe(true)
    const order = { law: 'NO_CRITICAL', for: '1m', reason: 'x', proof }
    expect(await value(asAnn.overrideLaw({ body: order }))).toMatchObject({ ok: true })
    expect(await value(asAnn.listRecoveries({ body: { proof } }))).toEqual({ waiting: [] })
    expect(await value(asAnn.removeUnneeded({ body: { dry_run: true, proof } }))).toMatchObject({
      dry_run: true,
    })
    expect(await value(asAnn.purge({ body: { before: '90d', proof } }))).toMatchObject({ bytes: 0 })
    expect(await value(asAnn.reindex({ body: { proof } }))).toHaveProperty('streams')
  }, 240_000)
})

describe('tasks and receipts', () => {
  const { bases } = JSON.parse(readFileSync('spec/vectors/contracts/task.json', 'utf8'))
  const { act_task_id: _id, created_at_ts: _at, ...whole } = bases.full
  const task = { ...whole, issuer: { kind: 'human', id: 'ann', namespace: 'local' } }

  it('a human issues a task with a proof, and a wrong receipt is refused', async () => {
    expect((await problemOf(asBot.issueTask({ body: { task, proof } }))).code).toBe(
      'principal.not_human',
    )
    const bad = { ...task, action_type: 7 }
    const wrong = await problemOf(asAnn.issueTask({ body: { task: bad, proof } }))
    expect(wrong.status).toBe(422)
    expect(wrong.violations.length).toBeGreaterThan(0)
    const { act_task_id: id } = await value(asAnn.issueTask({ body: { task, proof } }))
    const shown = await value(asBot.showTask({ params: { id }, query: {} }))
    expect([shown.status, shown.integrity_report.ok]).toEqual(['open', true])
    const refused = await problemOf(asBot.submitReceipt({ body: { receipt: { act_task_id: id } } }))
    expect(refused.status).toBe(422)
  }, 120_000)

  it('a device gets a key, and a task for it is withdrawn', async () => {
    const key = Buffer.alloc(32, 7).toString('base64')
    await asAnn.addPrincipal({ body: { principal: 'device:pump@local', proof } })
    await value(asAnn.enrollDevice({ body: { device: 'pump', key, proof } }))
    const { devices } = await value(asAnn.listDevices({}))
    expect(devices).toMatchObject([{ device: 'pump@local', key }])
    const time_window = { start_ts: Date.now(), end_ts: Date.now() + 3_600_000 }
    const forPump = { ...task, time_window, meta: { ...task.meta, device_id: 'pump' } }
    const { act_task_id: id } = await value(asAnn.issueTask({ body: { task: forPump, proof } }))
    const ended = await value(asAnn.withdrawTask({ params: { id }, body: { proof } }))
    expect(ended.act_task_id).toBe(id)
  }, 120_000)
})

describe('a run', () => {
  it('is started, looked at, and ended', async () => {
    const flow = chain(3)
    expect((await problemOf(asBot.startRun({ body: { flow, proof } }))).code).toBe(
      'principal.not_human',
    )
    const started = await asAnn.startRun({ body: { flow, proof }, wait: 60 } as Json)
    const { run_id: id } = started.value as Json
    expect(id).toMatch(/^run-/)
    const shown = await value(asBot.showRun({ params: { id }, query: {} }))
    expect(shown.nodes).toHaveLength(3)
    const node = await value(asBot.showNode({ params: { id, node: 'n0' }, query: {} }))
    expect(node.run_id).toBe(id)
    expect(await value(asBot.reportRun({ params: { id }, query: {} }))).toHaveProperty('status')
    expect(await value(asBot.drawRun({ params: { id }, query: { format: 'dot' } }))).toContain(
      'digraph',
    )
    const { runs } = await value(asBot.listRuns({ query: { limit: 5 } }))
    expect(runs[0].run_id).toBe(id)
  }, 180_000)

  it('that waits for a signal goes on in the service when the signal comes (X-3)', async () => {
    const base = chain(2)
    const [first, second] = base.nodes
    const nodes = [first, { ...second, signal: 'go' }]
    const body = { flow: { ...base, flow_id: 'waits', nodes }, proof }
    const { status, value: left } = (await asAnn.startRun({ body, wait: 60 } as Json)) as Json
    expect([status, left.status]).toEqual([202, 'WAITING'])
    const { run_id: id } = left
    const unknown = await problemOf(
      asAnn.signalRun({ params: { id }, body: { name: 'stop', proof } }),
    )
    expect(unknown.code).toBe('flow.unknown_signal')
    const told = await value(
      asAnn.signalRun({ params: { id }, body: { name: 'go', data: { by: 'test' }, proof } }),
    )
    expect(told).toMatchObject({ ok: true, walked: false })
    let seen = ''
    for (let look = 0; look < 60 && seen !== 'DONE'; look++) {
      await pause(1_000)
      seen = (await value(asBot.listRuns({ query: {} }))).runs.find(
        ({ run_id }: Json) => run_id === id,
      ).status
    }
    expect(seen).toBe('DONE')
  }, 240_000)
})

describe('a request with a key that a command answers', () => {
  it('is done once; another body under the key is refused (H-3)', async () => {
    const body = { principal: 'ai:once@local', proof }
    const first = await asAnn.addPrincipal({ body, idempotencyKey: 'p-1' })
    const again = await asAnn.addPrincipal({ body, idempotencyKey: 'p-1' })
    expect(again.value).toEqual(first.value)
    const other = { principal: 'ai:twice@local', proof }
    const problem = await problemOf(asAnn.addPrincipal({ body: other, idempotencyKey: 'p-1' }))
    expect(problem.code).toBe('api.key_reused')
    const made = { principal: 'ai:once@local', proof }
    await asAnn.createToken({ body: made, idempotencyKey: 't-1' })
    const lost = await problemOf(asAnn.createToken({ body: made, idempotencyKey: 't-1' }))
    expect([lost.status, lost.code]).toEqual([409, 'api.outcome_unknown'])
    const { tokens } = await value(asAnn.listTokens({}))
    expect(tokens.filter(({ principal }: Json) => principal.id === 'once')).toHaveLength(1)
  }, 180_000)
})

describe('the rest of the table', () => {
  it('the service says that it is there, and what it offers', async () => {
    for (const name of ['isAlive', 'isReady', 'describeApi'] as const) await asBot[name]({})
    expect(await value(asBot.showMetrics({}))).toContain('writ_')
  })

  it('questions are listed, shown, taken in part, denied and approved', async () => {
    const example = place.writ(['propose', '--example', 'COMMAND_EXECUTION']).json
    const body = place.proposal('.env.routes')
    const { value: act } = (await asBot.proposeAction({ query: {}, body, wait: 60 })) as Json
    expect([act.status, example.operation.type]).toEqual(['waiting', 'COMMAND_EXECUTION'])
    const { questions } = await value(asBot.listQuestions({ query: {} }))
    const { id, result_digest, shape } = questions.find(
      (one: Json) => one.action_id === act.action_id,
    )
    const cut = await value(
      asBot.listQuestions({ query: { from: questions.length - 1, limit: 5 } }),
    )
    expect(cut).toEqual({ questions: questions.slice(-1), total: questions.length })
    const alike = await value(asBot.listQuestions({ query: { shape } }))
    expect(alike.questions.map((one: Json) => one.id)).toContain(id)
    expect((await value(asBot.listQuestions({ query: { shape: 'none' } }))).total).toBe(0)
    expect((await value(asBot.showInbox({ query: {} }))).pending.length).toBeGreaterThan(0)
    await asBot.showInboxEntry({ params: { id }, query: {} })
    expect((await value(asBot.showQuestion({ params: { id } }))).changes).toHaveLength(1)
    expect((await value(asAnn.listSimilar({ params: { id } }))).actions).toBeInstanceOf(Array)
    const done = await value(
      asAnn.approveQuestion({ params: { id }, body: { result_digest, proof } }),
    )
    expect(done.status).toBe('promoted')
    place.exec([], 'mkdir part; echo 1 > part/one; echo 2 > two')
    const undeclared = place.pending().at(-1)
    const only = [join(place.project, 'part')]
    const named = { params: { id: undeclared.id } }
    const part = await value(asAnn.showPart({ ...named, body: { only } }))
    expect(part.left).toEqual([join(place.project, 'two')])
    const no = await value(asAnn.denyQuestion({ ...named, body: { reason: 'no', proof } }))
    expect(no.status).toBe('denied')
    const { actions } = await value(asBot.listActions({ query: { limit: 5 } }))
    expect(actions[0].action_id).toBe(no.action_id)
    await asBot.showAction({ params: { id: no.action_id } })
    await asBot.showLog({ query: { limit: 3 } })
    const since = { since: '1h', dry_run: true, proof }
    await asAnn.rollBackSince({ body: since })
  }, 180_000)

  it('an actor asks for an undo, and a human says yes or no', async () => {
    const ask = async (name: string): Promise<string> => {
      const body = place.proposal(name)
      await asBot.proposeAction({ query: {}, body, wait: 60 } as Json)
      const { action_id } = body.descriptor
      return (await value(asBot.requestUndo({ body: { action_id, reason: 'wrong' } }))).id
    }
    const [one, two] = [await ask('back.txt'), await ask('stays.txt')]
    const { undo_requests: open } = await value(asBot.listUndoRequests({}))
    expect(open.map(({ id }: Json) => id)).toEqual([one, two])
    const refused = await problemOf(asBot.approveUndo({ params: { id: one }, body: { proof } }))
    expect(refused.code).toBe('principal.not_human')
    await asAnn.approveUndo({ params: { id: one }, body: { proof } })
    await asAnn.denyUndo({ params: { id: two }, body: { proof, reason: 'keep' } })
    expect([place.has('back.txt'), place.has('stays.txt')]).toEqual([false, true])
  }, 180_000)

  it('facts, proofs and checkpoints are read', async () => {
    const { streams } = await value(asBot.listStreams({}))
    expect(streams.map(({ stream }: Json) => stream)).toContain('main')
    const params = { stream: 'main' }
    await asBot.listFacts({ params, query: { limit: 2 } })
    await asBot.showCheckpoint({ params })
    await asBot.proveFact({ params, query: { seq: 0 } })
    await asBot.proveKeys({ params })
    const { checkpoint } = await value(asBot.showCheckpointOfAll({ query: { stream: 'main' } }))
    await asBot.compareCheckpoints({ body: { ours: checkpoint, theirs: checkpoint } })
    expect(await value(asBot.exportEvents({ query: { format: 'jsonl', limit: 2 } }))).toContain('{')
  }, 120_000)

  it('documents and rules of the request are judged', async () => {
    const proposal = place.proposal('x')
    expect(
      await value(asBot.checkDocument({ body: { document: proposal } } as Json)),
    ).toMatchObject({ valid: true })
    await asBot.normalizeDocument({ body: { as: 'PLAN_GEN', document: {} } } as Json)
    const rules = readFileSync('examples/constitution/apply.yaml', 'utf8')
    const ruleset = JSON.parse(
      (await value(asBot.formatRules({ body: { rules, to: 'json' } }))) as string,
    )
    await asBot.checkRules({ body: { rulesets: [ruleset] } } as Json)
    const read = (name: string): Json =>
      JSON.parse(readFileSync(join('examples/constitution', name), 'utf8'))
    const cases = [read('cases/conflict.json')]
    const sense = readFileSync('examples/constitution/sense.yaml', 'utf8')
    const template = read('templates/enter.json')
    expect(await value(asBot.importRules({ body: { template } }))).toContain('ruleset_id')
    await asBot.testRules({ body: { rules: [rules, sense], cases } } as Json)
    const { inputs } = cases[0]
    await asBot.evaluateRules({ body: { rulesets: [ruleset], inputs } } as Json)
  }, 120_000)

  it('a schedule is set, looked at, changed, paused, resumed and removed', async () => {
    place.write('flow.json', JSON.stringify(chain(1)))
    const name = 'nightly'
    const params = { name }
    const set = { name, cron: '0 3 * * *', flow: 'flow.json', proof }
    await asAnn.addSchedule({ body: set })
    await asAnn.showSchedule({ params, query: {} })
    await asAnn.updateSchedule({ params, body: { cron: '0 4 * * *', proof } })
    await asAnn.pauseSchedule({ params, body: { proof } })
    await asAnn.resumeSchedule({ params, body: { proof } })
    expect(await value(asAnn.removeSchedule({ params, body: { proof } }))).toMatchObject({ name })
  }, 180_000)

  it('a run that waits gets a budget, a new version, a skip, and is cancelled', async () => {
    const base = chain(2)
    const [first, second] = base.nodes
    const waits = { ...base, flow_id: 'held', nodes: [first, { ...second, signal: 'go' }] }
    const start = async (): Promise<string> =>
      ((await asAnn.startRun({ body: { flow: waits, proof }, wait: 60 } as Json)).value as Json)
        .run_id
    const id = await start()
    const params = { id }
    await asAnn.setBudget({ params, body: { attempts: 50, proof } })
    await asAnn.migrateRun({ params, body: { flow: waits, yes: true, proof } } as Json)
    await asAnn.resumeRun({ params, body: { proof }, wait: 30 } as Json)
    await asAnn.skipNode({ params: { id, node: 'n1' }, body: { comment: 'not today', proof } })
    const other = await start()
    await asAnn.cancelRun({ params: { id: other }, body: { comment: 'enough', proof } })
  }, 240_000)

  it('a witness is pinned and unpinned, and the key is rotated', async () => {
    const dir = join(place.folder, 'witness')
    const key = place.writ(['witness', 'init', 'w.example/1', '--dir', dir]).out.trim()
    const { name } = await value(
      asAnn.pinWitness({ body: { url: 'http://127.0.0.1:1/w', key, proof } }),
    )
    await asAnn.listWitnesses({})
    await asAnn.unpinWitness({ body: { name, proof } })
    await asAnn.rotateKey({ body: { proof } })
  }, 120_000)
})

it('every route answered well once, as it is described, or has a reason', () => {
  const missing = TABLE.map(([name]) => name).filter(
    (name) => !place.succeeded.has(name) && NO_ANSWER_HERE[name] === undefined,
  )
  expect(missing).toEqual([])
  expect(Object.keys(NO_ANSWER_HERE).filter((name) => place.succeeded.has(name))).toEqual([])
})
