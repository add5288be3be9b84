/** Refusals as a person reads them: what happened, where, and which command to type next. */
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Place } from './place.ts'

vi.setConfig({ testTimeout: 120_000 })

let place: Place

beforeAll(() => {
  place = new Place('refusals', { runs: 'warm' }).init()
}, 180_000)

afterAll(() => place?.remove())

function state(): string {
  return join(place.folder, 'state/writ', place.text('.writ/id').trim())
}

describe('a blocked run', () => {
  it.each([
    ['effect.undeclared', ['--write', 'named'], 'echo x > other', 'other', '`--write GLOB`'],
    ['effect.out_of_scope', ['--write', '.'], 'echo x > ~/out', 'home/out', '`--scope DIR`'],
    ['effect.privileged', ['--write', '.'], 'echo x > s; chmod u+s s', 'project/s', 'setuid'],
    ['diff.unsupported', ['--write', '.'], 'mkfifo ff', 'project/ff', 'leave this kind of file'],
    ['result.timeout', ['--time', '1'], 'sleep 5', 'its time of 1s', '--time raises it'],
    [
      'result.resource_killed',
      ['--memory', '64'],
      `python3 -c 'x = bytearray(300000000)'`,
      'its memory of 64 MB',
      '--memory raises it',
    ],
  ])('%s names the place and the next step', (code, options, script, where, next) => {
    const { status, err, lastLine } = place.exec(options, script)
    expect([status, lastLine]).toEqual([125, `writ: ${code}`])
    expect(err).toContain(where)
    expect(err).toContain(next)
    expect(err).toMatch(/writ laws explain [0-9a-f-]{13}\n/)
  })

  it('a halt names the command that ends it', () => {
    expect(place.writ(['halt']).status).toBe(0)
    const { err } = place.exec([], 'true')
    expect(place.writ(['resume']).status).toBe(0)
    expect(err).toContain('`writ resume`')
  })

  it('a file that a process writes to is named with the process', () => {
    const file = place.write('held')
    const handle = openSync(file, 'a')
    try {
      const { err, lastLine } = place.exec(['--write', 'held'], 'echo x >> held')
      expect(lastLine).toBe('writ: promote.busy')
      expect(err).toContain(`process ${process.pid} has \`${file}\` open for writing`)
      expect(err).toContain('then run the same again')
    } finally {
      closeSync(handle)
    }
  })

  it('a path that changed since is named whole, however long it is', () => {
    const name = `${'deep/'.repeat(20)}file`
    const file = place.write(name)
    expect(place.exec([], `echo x >> ${name}`).status).toBe(75)
    appendFileSync(file, 'another line\n')
    const { out } = place.writ(['approve', place.pending().at(-1).id, '--yes'])
    expect(out).toContain(`another program changed this since the rehearsal: \`${file}\``)
    expect(out).toContain('run the command again')
  })
})

describe('a fault', () => {
  it('a key file that is missing is named, with what to do', () => {
    const keys = join(state(), 'keys')
    const [key = ''] = readdirSync(keys).filter((name) => name.endsWith('.key'))
    const aside = join(place.folder, 'aside.key')
    renameSync(join(keys, key), aside)
    try {
      const { err, lastLine } = place.exec([], 'true')
      expect(lastLine).toBe('writ: ledger.key_missing')
      expect(err).toContain(`the key file \`${keys}/`)
      expect(err).toContain('backup')
      expect(err).toContain('`writ init --new`')
    } finally {
      renameSync(aside, join(keys, key))
    }
    expect(place.exec([], 'true').status).toBe(0)
  })

  it('a directory without a home says where to go and what to type', () => {
    const { err } = place.writ(['inbox'], { cwd: place.folder })
    expect(err).toContain(`writ is not set up in \`${place.folder}\``)
    expect(err).toContain('`writ init`')
  })

  it.each([
    ['history.unknown', ['show', '12345678'], '`writ log`'],
    [
      'recovery.unknown',
      ['recover', '11111111-1111-4111-8111-111111111111', '--revert'],
      'recover',
    ],
    ['override.unknown_law', ['override', '--law', 'N', '--for', '1m', '--reason', 'x'], 'laws'],
    ['principal.unknown', ['token', 'create', 'ai:none@local'], '`writ principal list`'],
  ])('%s says where to look', (code, args, next) => {
    const { json } = place.writ([...args, '--json'])
    expect(json.error.code).toBe(code)
    expect(json.error.hint).toContain(next)
  })
})

const CHOICES = ['--revert --keep', '--revert --old', '--finish --keep', '--finish --new']

describe('a recovery that waits for a choice', () => {
  it('prints the commands, and they end it', async () => {
    const file = await interrupt()
    const listed = place.writ(['recover'])
    expect(listed.status).toBe(3)
    expect(listed.out).toContain(file)
    const refused = place.exec(['--write', 'z'], 'echo z > z')
    expect(refused.err).toContain('`writ recover` lists the paths and the commands')
    for (const choice of CHOICES) {
      expect(listed.out).toMatch(new RegExp(`writ recover [0-9a-f-]{36} ${choice} ${file}`))
    }
    const [, id = ''] = /writ recover ([0-9a-f-]{36}) --revert --keep/.exec(listed.out) ?? []
    const unchosen = place.writ(['recover', id, '--revert', '--json']).json.error
    expect(unchosen.code).toBe('recovery.conflict')
    expect(unchosen.hint).toContain(`writ recover ${id} --revert --keep ${file}`)
    const spent = place.writ(['recover', id, '--finish', '--new', file, '--json']).json.error
    expect(spent.message).toContain('there is no copy of it')
    expect(place.text('many/f0')).toBe('neither\n')
    const ended = place.writ(['recover', id, '--revert', '--keep', file])
    expect(ended.status, ended.err).toBe(0)
    expect(place.text('many/f0')).toBe('neither\n')
    expect(place.has('many/f1999')).toBe(false)
    expect(place.writ(['log']).out).toContain('put back')
    expect(place.exec(['--write', 'z'], 'echo z > z').status).toBe(0)
  })
})

/** Kills a promotion of many files on its way and changes one of them; returns that path. */
async function interrupt(): Promise<string> {
  place.write('many/before')
  const script = 'for i in $(seq 0 1999); do echo new > many/f$i; done'
  const child = place.start(['exec', '--write', 'many', '--', 'sh', '-c', script])
  const ended = new Promise((resolve) => child.on('close', resolve))
  const file = join(place.project, 'many/f0')
  while (!existsSync(file) && child.exitCode === null) await pause(1)
  child.kill('SIGKILL')
  await ended
  writeFileSync(file, 'neither\n')
  return file
}
