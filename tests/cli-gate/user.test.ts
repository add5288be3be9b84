/** The same as an ordinary user, without groups and capabilities: what most people are. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { TEST_UID, userWrapper } from '../sandbox/drive.ts'
import { Place } from './place.ts'

const OTHER_GROUP = TEST_UID + 1

let place: Place
let through: readonly string[]

// Each test is several processes, and each of them a sandbox.
vi.setConfig({ testTimeout: 120_000 })

beforeAll(() => {
  place = new Place('user')
  place.copyProgram()
  // The wrapper's last words set another home than the one of this test.
  through = userWrapper('user').slice(0, -2)
  chmodSync(place.folder, 0o755)
  execFileSync('chown', ['-R', `${TEST_UID}:${TEST_UID}`, place.folder])
  const { status, err } = place.writ(['init', '--no-pass', '--name', 'ann'], { through })
  expect(status, err).toBe(0)
}, 180_000)

afterAll(() => place?.remove())

it('a run without effects, one with, and one that is taken back', () => {
  expect(place.exec([], 'id -u', { through })).toMatchObject({ status: 0, out: `${TEST_UID}\n` })
  const made = place.exec(['--yes'], 'mkdir d; echo x > d/f; chmod 600 d/f', { through })
  expect(made, made.err).toMatchObject({ status: 0, err: '' })
  const { uid, mode } = statSync(join(place.project, 'd', 'f'))
  expect([uid, mode & 0o777]).toEqual([TEST_UID, 0o600])
  expect(place.writ(['undo', '--json'], { through })).toMatchObject({
    status: 0,
    json: { verified: true },
  })
  expect(place.has('d')).toBe(false)
})

it('a question at the terminal, and one in the inbox', () => {
  const seen = place.person(
    ['exec', '--', 'sh', '-c', 'stty size; echo x > asked'],
    [{ expect: '31 101' }, { expect: '[y/N/later, a: show all] ' }, { send: 'y\n' }],
    { through },
  )
  expect(seen).toMatchObject({ failed: null, status: 0, mode: { echo: true, lines: true } })
  expect(place.has('asked')).toBe(true)
  const waiting = place.exec([], 'rm asked', { through })
  expect(waiting.status).toBe(75)
  const [{ id }] = place.writ(['inbox', '--json'], { through }).json.pending
  expect(place.writ(['approve', '--yes', id], { through }).status).toBe(0)
  expect(place.has('asked')).toBe(false)
})

it('a directory that its owner could not look into any more is refused', () => {
  const made = place.exec(['--yes'], 'mkdir open w; echo x > w/f; chmod 500 w', { through })
  expect(made, made.err).toMatchObject({ status: 0, err: '' })
  for (const script of ['mkdir closed; echo x > closed/f; chmod 600 closed', 'chmod 300 open']) {
    const ended = place.exec(['--yes'], script, { through })
    expect(ended).toMatchObject({ status: 125, lastLine: 'writ: diff.unsupported' })
  }
  expect(place.has('closed')).toBe(false)
  expect(place.writ(['undo'], { through }).status).toBe(0)
  expect([place.has('open'), place.has('w')]).toEqual([false, false])
})

it('another user’s files cannot be changed, and that is said', () => {
  const file = place.write('root-owned')
  chownSync(file, 0, 0)
  const ended = place.exec(['--yes'], 'echo x > root-owned', { through })
  expect(ended.status).not.toBe(0)
  expect(place.text('root-owned')).toBe('root-owned\n')
})

it('an undo keeps the group that another program gave', () => {
  const path = place.write('old')
  chownSync(path, TEST_UID, TEST_UID)
  const ended = place.exec(['--yes'], 'echo new > old', { through })
  expect(ended, ended.err).toMatchObject({ status: 0 })
  lchownSync(path, TEST_UID, OTHER_GROUP)
  const undone = place.writ(['undo'], { through })
  expect(undone.status).toBe(1)
  expect(undone.err).toContain('rollback.conflict')
  expect(lstatSync(path).gid).toBe(OTHER_GROUP)
  rmSync(path, { recursive: true })
})

it.each([
  ['a change', 'echo new > old'],
  ['a deletion', 'rm old'],
])('a yes does not replace the group that another program gave: %s', (_, script) => {
  const path = place.write('old')
  chownSync(path, TEST_UID, TEST_UID)
  expect(place.exec([], script, { through }).status).toBe(75)
  chownSync(path, TEST_UID, OTHER_GROUP)
  const [{ id }] = place.writ(['inbox', '--json'], { through }).json.pending
  const answered = place.writ(['approve', '--yes', id], { through })
  expect(answered.out).toContain('promote.conflict')
  expect([place.text('old'), lstatSync(path).gid]).toEqual(['old\n', OTHER_GROUP])
  place.writ(['reject', id], { through })
})

it('a ledger without the right to read it is reported as that, and not as gone', () => {
  const state = join(place.folder, 'state')
  const found = readdirSync(state, { recursive: true, encoding: 'utf8' })
  const ledger = join(state, found.find((name) => name.endsWith('/ledger.db')) ?? 'none')
  chmodSync(ledger, 0)
  try {
    const { status, err } = place.writ(['log'], { through })
    expect(status).toBe(4)
    expect(err).toContain(`this user may not read and write the file of the ledger: ${ledger}`)
    expect(err).toContain(`chmod 600 ${ledger}`)
  } finally {
    chmodSync(ledger, 0o600)
  }
  expect(place.writ(['log'], { through }).status).toBe(0)
})

it('a history that is cut says so, and how to see more', () => {
  for (const name of ['one', 'two']) {
    expect(place.exec(['--yes'], `echo x > ${name}`, { through }).status).toBe(0)
  }
  const cut = place.writ(['log', '--limit', '1'], { through })
  expect(cut.err).toBe('there are older acts: writ log --limit 10 lists up to 10\n')
  expect(place.writ(['log', '--limit', '1000'], { through }).err).toBe('')
})

it('a new hard link keeps its mode, also to a name that is not UTF-8', () => {
  const odd = Buffer.concat([Buffer.from(`${place.project}/b`), Buffer.from([0xff])])
  writeFileSync(odd, 'hi\n')
  chownSync(odd, TEST_UID, TEST_UID)
  const linked = place.exec(['--yes', '--write', '.'], 'ln b* l', { through })
  expect(linked, linked.err).toMatchObject({ status: 0 })
  expect(statSync(join(place.project, 'l')).mode & 0o777).toBe(0o644)
  expect(place.writ(['undo', '--json'], { through })).toMatchObject({ status: 0 })
  expect(place.has('l')).toBe(false)
  rmSync(odd)
})

it('work of a flow that its owner may not read is asked about, and promoted as it is', () => {
  place.write(
    'work.mjs',
    `import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
mkdirSync('sealed'); writeFileSync('sealed/n', 'x'); chmodSync('sealed/n', 0)
console.log(JSON.stringify({ schema_version: 'xiaobo_action_v1', task_id: 'a', result_type: 'ARTIFACT',
  artifact: { name: 'a', format: 'md', content: 'done' } }))\n`,
  )
  const common = { phase_id: 'P', actor: 'w', max_attempts: 1 }
  const executor = { command: ['node', 'work.mjs'], tools: 'none' }
  const nodes = [
    { node_id: 'a', kind: 'WORK', title: 'A', ...common, executor, writes: ['sealed/**'] },
    { node_id: 'c', kind: 'CHECK', title: 'C', ...common, target: 'a', reviewer: { human: true } },
  ]
  const edges = [{ edge_id: 'E', source: 'a', target: 'c', class: 'Progress' }]
  place.write(
    'flow.json',
    JSON.stringify({ type: 'flow_v1', flow_id: 'f', title: 'F', nodes, edges }),
  )
  execFileSync('chown', ['-R', `${TEST_UID}:${TEST_UID}`, place.project])
  const flow = (...words: readonly string[]) =>
    place.writ(['flow', ...words, '--json'], { through })
  const { json } = flow('run', 'flow.json')
  expect(json, JSON.stringify(json)).toMatchObject({ status: 'WAITING' })
  expect(flow('show', json.run_id, 'c').status).toBe(0)
  expect(flow('approve', json.run_id, 'c').status).toBe(0)
  expect(flow('resume', json.run_id).json).toMatchObject({ status: 'DONE' })
  expect(statSync(join(place.project, 'sealed', 'n')).mode & 0o777).toBe(0)
})
