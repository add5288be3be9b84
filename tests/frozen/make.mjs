/**
 * Makes the frozen homes of a version with that version's own program:
 *
 *     git worktree add /tmp/base 68da32f && cd /tmp/base && npm ci && npm run build
 *     node tests/frozen/make.mjs /tmp/base 0.1.0        (as root, with Debian's postgresql)
 *
 * It writes `tests/frozen/<version>/`: an archive of workspace, `.writ` and state for each store, the
 * dump of the PostgreSQL schema, and `facts.json` with what the tests need to know. A frozen home is
 * never made again: a later version adds a folder of its own. Run it with an environment that names no
 * place of your machine (`env -i HOME=/root PATH=/usr/bin:/bin …`). The homes in `0.1.0` were made by the
 * commit named above.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import pg from 'pg'
import { startPostgres } from '../../tools/postgres.mjs'
import { environmentOf, KINDS, lockFrozen, PASSPHRASE, placesOf, ROLES, ROOT } from './layout.mjs'

const [, , checkout, version] = process.argv
if (checkout === undefined || version === undefined)
  throw new Error('usage: make.mjs CHECKOUT VERSION')
const PROGRAM = resolve(checkout, 'bin', 'writ.cjs')
const OUT = join(import.meta.dirname, version)
const DEBIAN = '/usr/lib/postgresql'

const LAW = `
  - policy_id: ASK_MIGRATIONS
    tier: 2
    policy_expr: creates('db/**')
    priority: 65
    conflicts_with: []
    override_mode: merge
    violation_action: confirm
`

const ANN = { kind: 'human', id: 'ann', namespace: 'farm' }
const TASK = {
  type: 'ao_act_task_v0',
  issuer: ANN,
  action_type: 'IRRIGATE',
  target: { kind: 'field', ref: 'field:north/7' },
  time_window: { start_ts: 1763193600000, end_ts: 1763208000000 },
  parameter_schema: { keys: [{ name: 'water_mm', type: 'number', min: 0, max: 40 }] },
  parameters: { water_mm: 12 },
  constraints: { water_mm: 15 },
}
const RECEIPT = {
  type: 'ao_act_receipt_v0',
  executor_id: { kind: 'device', id: 'pump-3', namespace: 'farm' },
  execution_time: { start_ts: 1763193600000, end_ts: 1763197200000 },
  execution_coverage: { kind: 'field', ref: 'field:north/7' },
  resource_usage: { fuel_l: null, electric_kwh: 1.5, water_l: 120, chemical_ml: null },
  logs_refs: [{ kind: 'log', ref: 'log:1' }],
  status: 'executed',
  constraint_check: { violated: false, violations: [] },
  observed_parameters: { water_mm: 12 },
  meta: { idempotency_key: 'run-1' },
}

const WORKER = `import { readFileSync, readSync, writeSync } from 'node:fs'
const input = JSON.parse(readFileSync(0, 'utf8'))
writeSync(3, JSON.stringify({ operation: { type: 'COMMAND_EXECUTION', argv: ['true'], cwd: process.cwd() } }) + '\\n')
const part = Buffer.alloc(65536)
let text = ''
while (!text.includes('\\n')) {
  try { text += part.toString('utf8', 0, readSync(3, part)) }
  catch (error) { if (error.code !== 'EAGAIN') throw error }
}
console.log(JSON.stringify({ result_type: 'ARTIFACT',
  artifact: { name: 'out', format: 'md', content: 'made by ' + input.node.node_id } }))
`
const NODE = { title: '', phase_id: 'P1', actor: 'a', max_attempts: 1 }
const FLOW = {
  type: 'flow_v1',
  flow_id: 'frozen',
  title: 'One works, a person judges',
  nodes: [
    { ...NODE, node_id: 'a', kind: 'WORK', executor: { command: ['node', 'worker.mjs'] } },
    { ...NODE, node_id: 'c', kind: 'CHECK', target: 'a', reviewer: { human: 'ann' } },
  ],
  edges: [{ edge_id: 'e', source: 'a', target: 'c', class: 'Progress' }],
}

class Making {
  constructor(kind) {
    this.kind = kind
    this.places = placesOf(kind)
    mkdirSync(this.places.home, { recursive: true })
    for (const name of ['docs', 'old'])
      mkdirSync(join(this.places.project, name), { recursive: true })
  }

  write(path, text) {
    writeFileSync(join(this.places.project, path), text)
  }

  /** Runs writ with the passphrase on descriptor 3 and returns what it printed; another status than expected ends all. */
  writ(args, { input = '', token, status = 0, proven = false } = {}) {
    const secret = join(ROOT, 'secret')
    writeFileSync(secret, `${PASSPHRASE}\n`)
    const descriptor = openSync(secret, 'r')
    const words = [PROGRAM, ...args, ...(proven ? ['--pass-fd', '3'] : [])]
    const ended = spawnSync(process.execPath, words, {
      cwd: this.places.project,
      input,
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'pipe', descriptor],
      env: { ...environmentOf(this.kind), ...(token === undefined ? {} : { WRIT_TOKEN: token }) },
    })
    closeSync(descriptor)
    rmSync(secret)
    if (ended.status === status) return ended.stdout
    throw new Error(`writ ${args.join(' ')}: ${ended.status}\n${ended.stdout}${ended.stderr}`)
  }

  json(args, around) {
    return JSON.parse(this.writ([...args, '--json'], around))
  }

  /** Runs a command through the gate and returns its report. */
  exec(options, script, around) {
    const report = join(ROOT, 'report.json')
    this.writ(['exec', '--report', report, ...options, '--', 'sh', '-c', script], around)
    const answer = JSON.parse(readFileSync(report, 'utf8'))
    rmSync(report)
    return answer
  }

  home(init) {
    this.writ(['init', '--name', 'ann', '--namespace', 'farm', ...init], { proven: true })
    const laws = join(this.places.project, '.writ', 'laws.yaml')
    writeFileSync(laws, readFileSync(laws, 'utf8').replace(/^laws:\n/m, `laws:${LAW}`))
    this.writ(['laws', 'accept'], { proven: true })
    this.writ(['principal', 'add', 'device:pump-3@farm'], { proven: true })
    this.writ(['principal', 'add', 'ai:bot@farm'], { proven: true })
    const pump = this.json(['token', 'create', 'device:pump-3@farm', '--days', '3650'], {
      proven: true,
    })
    const bot = this.json(['token', 'create', 'ai:bot@farm', '--days', '3650'], { proven: true })
    return { pump: pump.token, bot: bot.token }
  }

  history(tokens) {
    const { act_task_id } = this.json(['task', 'issue', '-'], {
      input: JSON.stringify(TASK),
      proven: true,
    })
    const receipt = JSON.stringify({ ...RECEIPT, act_task_id })
    this.writ(['receipt', 'submit', '-'], { input: receipt, token: tokens.pump })
    const examples = resolve(checkout, 'examples', 'constitution')
    const inputs = join(examples, 'inputs', 'gappy.json')
    this.writ(['rules', 'eval', '--rules', examples, '--inputs', inputs, '--record'])
    return act_task_id
  }

  acts() {
    this.write('notes.txt', 'first\n')
    this.write('old/gone.txt', 'to be deleted\n')
    this.write('docs/guide.md', '# Guide\n')
    const undone = this.exec(['--write', '.'], 'echo second >> notes.txt')
    this.writ(['undo'])
    const script =
      'echo third > notes.txt; rm old/gone.txt; mkdir -p new; echo n > new/n.txt; ln -s n.txt new/link; chmod 600 docs/guide.md'
    const undoable = this.exec(['--write', '.', '--delete', '.'], script)
    return { undone: undone.action_id, undoable: undoable.action_id }
  }

  waiting(tokens) {
    this.write('worker.mjs', WORKER)
    this.write('flow.json', JSON.stringify(FLOW))
    const run = this.json(['flow', 'run', 'flow.json'], { status: 3 })
    const own = this.exec([], 'mkdir -p db && echo "create" > db/1.sql', { status: 75 })
    const agents = this.exec(['--write', '.'], 'mkdir -p db && echo "drop" > db/2.sql', {
      status: 75,
      token: tokens.bot,
    })
    return { run: run.run_id, question: own.action_id, agent_question: agents.action_id }
  }

  make(init) {
    const tokens = this.home(init)
    const key = this.json(['ledger', 'key']).public_key
    const task = this.history(tokens)
    const acts = this.acts()
    const checkpoint = this.json(['ledger', 'checkpoint']).checkpoint
    this.writ(['ledger', 'rotate'], { proven: true })
    const waiting = this.waiting(tokens)
    const made_at_ms = Date.now()
    this.writ(['ledger', 'verify'])
    this.writ(['replay'])
    const { dev, ino } = lstatSync(this.places.project, { bigint: true })
    const root = { device: String(dev), inode: String(ino) }
    return { made_at_ms, root, tokens, key, checkpoint, task, ...acts, ...waiting }
  }

  pack() {
    const archive = join(OUT, `${this.kind}.tar.gz`)
    execFileSync('tar', [
      '-C',
      this.places.folder,
      '--numeric-owner',
      '-czf',
      archive,
      'project',
      'home',
    ])
  }
}

/** Debian's server, since its `pg_dump` goes with it. */
async function withPostgres(work) {
  const [newest] = readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a))
  const binaries = join(DEBIAN, newest, 'bin')
  const server = await startPostgres({}, binaries)
  const { folder, socket } = placesOf('postgres')
  try {
    mkdirSync(folder, { recursive: true })
    symlinkSync(server.directory, socket)
    const client = new pg.Client(server.connection)
    await client.connect()
    await client.query(ROLES)
    await client.end()
    work(`postgresql://clerk@/postgres?host=${socket}`)
    const args = [
      '-h',
      server.directory,
      '-U',
      'postgres',
      '--inserts',
      '--encoding=UTF8',
      'postgres',
    ]
    const dump = execFileSync(join(binaries, 'pg_dump'), args, {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    })
    // Lines that begin with a backslash are for psql; the rest is SQL that any client can send.
    writeFileSync(join(OUT, 'postgres.sql'), dump.replace(/^\\.*\n/gm, ''))
  } finally {
    await server.stop()
  }
}

const unlock = await lockFrozen()
rmSync(ROOT, { recursive: true, force: true })
mkdirSync(OUT, { recursive: true })
const facts = {}
const [sqlite, postgres] = KINDS.map((kind) => new Making(kind))
facts.sqlite = sqlite.make([])
sqlite.pack()
await withPostgres((url) => {
  facts.postgres = postgres.make(['--store', url, '--store-owner', 'keeper'])
})
postgres.pack()
writeFileSync(join(OUT, 'facts.json'), `${JSON.stringify(facts, null, 2)}\n`)
rmSync(ROOT, { recursive: true, force: true })
await unlock()
