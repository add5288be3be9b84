/** Homes, the credential of the human and principals, as people and machines meet them: the built program. */
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ANN, codes, folder, type Json, Place, PROGRAM, PUMP, TASK } from './rig.ts'

describe('homes', () => {
  it('asks how the credential is made, makes everything, and makes nothing twice', () => {
    const place = new Place('make')
    expect(place.writ(['init']).status).toBe(2)
    expect(readdirSync(place.project)).toEqual([])
    const first = place.writ(['init', '--no-pass', '--json'])
    expect(first.status).toBe(0)
    expect(first.json).toMatchObject({ credential: 'none', level: 'seatbelt' })
    expect(Object.keys(first.json)).toEqual(['home', 'created', 'credential', 'level'])
    expect(first.json.created.length).toBeGreaterThan(5)
    expect(readdirSync(join(place.project, '.writ')).sort()).toEqual([
      '.gitignore',
      'id',
      'laws.yaml',
      'rules',
    ])
    const state = place.stateOfHome
    for (const name of ['ledger.db', 'objects', 'keys', 'principals.json', 'journal']) {
      expect(readdirSync(state)).toContain(name)
    }
    expect(statSync(state).mode & 0o777).toBe(0o700)
    expect(place.writ(['init', '--no-pass', '--json']).json.created).toEqual([])
    const facts = place.writ(['log', '--stream', 'host', '--json']).json.facts
    expect(facts.map((fact: { record: { type: string } }) => fact.record.type)).toEqual([
      'key_rotated_v1',
      'principal_v1',
      'laws_v1',
    ])
    const renamed = place.writ(['init', '--no-pass', '--name', 'mallory', '--json'])
    expect(renamed.json.error.code).toBe('principal.exists')
  })

  it('keeps all but laws and rules out of a repository', () => {
    const place = new Place('git').init()
    execFileSync('git', ['init', '-q'], { cwd: place.project })
    writeFileSync(join(place.project, '.writ', 'rules', 'apply.yaml'), 'x: 1\n')
    const listed = execFileSync('git', ['ls-files', '-o', '--exclude-standard'], {
      cwd: place.project,
      encoding: 'utf8',
    })
    expect(listed.trim().split('\n').sort()).toEqual([
      '.writ/.gitignore',
      '.writ/laws.yaml',
      '.writ/rules/apply.yaml',
    ])
  })

  it('is found from below, by option and by variable; without one the answer is 2', () => {
    const place = new Place('find').init()
    const below = join(place.project, 'a', 'b')
    mkdirSync(below, { recursive: true })
    expect(place.writ(['log'], { cwd: below }).status).toBe(0)
    const elsewhere = { cwd: folder }
    const lost = place.writ(['log', '--json'], elsewhere)
    expect([lost.status, lost.json.error.code]).toEqual([2, 'home.missing'])
    expect(place.writ(['log', '--home', place.project], elsewhere).status).toBe(0)
    const home = join(place.project, '.writ')
    expect(place.writ(['log', '--home', home], elsewhere).status).toBe(0)
    expect(place.writ(['log'], { ...elsewhere, env: { WRIT_HOME: home } }).status).toBe(0)
  })

  it('obeys no home that no human registered as it is now', () => {
    const place = new Place('trust').init()
    const laws = join(place.project, '.writ', 'laws.yaml')
    writeFileSync(laws, 'laws: []\n# loosened\n')
    // The accepted laws stay in force, and making a home again accepts no others.
    expect(place.writ(['init', '--no-pass', '--json']).json.laws_differ).toBe(true)
    expect(place.writ(['trust', '--yes', '--json']).status).toBe(0)
    expect(place.writ(['init', '--no-pass', '--json']).json.laws_differ).toBe(undefined)
    writeFileSync(join(place.project, '.writ', 'id'), '11111111-1111-4111-8111-111111111111\n')
    for (const args of [['log'], ['task', 'list'], ['init', '--no-pass']]) {
      const { status, json } = place.writ([...args, '--json'])
      expect([status, json.error.code]).toEqual([4, 'home.untrusted'])
    }
    const clone = join(folder, 'trust', 'clone')
    cpSync(join(place.project, '.writ'), join(clone, '.writ'), { recursive: true })
    const cloned = place.writ(['log', '--json'], { cwd: clone })
    expect([cloned.status, cloned.json.error.code]).toEqual([4, 'home.untrusted'])
  })

  it('is made once when two make it', async () => {
    const place = new Place('race')
    const make = () =>
      new Promise<number | null>((resolve) => {
        const made = spawn(process.execPath, [PROGRAM, 'init', '--no-pass'], {
          cwd: place.project,
          env: place.env(undefined),
          stdio: 'ignore',
        })
        made.once('close', resolve)
      })
    expect(await Promise.all([make(), make(), make()])).toEqual([0, 0, 0])
    expect(place.writ(['ledger', 'verify']).status).toBe(0)
    const left = readdirSync(join(place.state, 'writ')).filter((name) => name.endsWith('.tmp'))
    expect(left).toEqual([])
  }, 60_000)

  it.each([
    ['state directory', (state: string) => renameSync(state, `${state}.gone`)],
    ['ledger', (state: string) => rmSync(join(state, 'ledger.db'))],
  ])('is not begun again when its %s is gone, and says what begins another', (what, lose) => {
    const place = new Place(`lost-${what.slice(0, 5)}`).init()
    const state = place.stateOfHome
    const id = readFileSync(join(place.project, '.writ', 'id'), 'utf8')
    lose(state)
    for (const args of [['init', '--no-pass'], ['log']]) {
      const { status, json } = place.writ([...args, '--json'])
      expect([status, json.error.code]).toEqual([4, 'ledger.corrupt'])
      expect(json.error.hint).toContain(`put a copy of the ledger back into ${state}`)
      expect(json.error.hint).toContain('`writ init --new` begins another history')
    }
    expect(existsSync(join(state, 'ledger.db'))).toBe(false)
    expect(readFileSync(join(place.project, '.writ', 'id'), 'utf8')).toBe(id)
    expect(place.writ(['init', '--new', '--no-pass']).status).toBe(0)
    expect(readFileSync(join(place.project, '.writ', 'id'), 'utf8')).not.toBe(id)
    expect(place.writ(['ledger', 'verify']).status).toBe(0)
  })

  it('says which file cannot be written', () => {
    const place = new Place('unwritable')
    writeFileSync(join(place.project, '.writ'), 'a file stands in the way')
    const { status, json } = place.writ(['init', '--no-pass', '--json'])
    expect([status, json.error.code]).toEqual([4, 'cli.file_unwritable'])
  })

  it('refuses an id that leads elsewhere', () => {
    const place = new Place('escape').init()
    writeFileSync(join(place.project, '.writ', 'id'), '../../elsewhere\n')
    expect(place.writ(['log']).status).toBe(4)
    expect(place.writ(['trust']).status).toBe(4)
  })
})

describe('the credential of the human', () => {
  const GOOD = 'four words are enough'

  it('is strong, sealed, and asked for where a human must be proven', () => {
    const place = new Place('pass')
    const weak = place.writ(['init', '--pass-fd', '3', '--json'], { passphrase: 'short' })
    expect([weak.status, weak.json.error.code]).toEqual([1, 'credential.weak'])
    const names = ['--name', 'ann', '--namespace', 'farm']
    const made = place.writ(['init', '--pass-fd', '3', '--json', ...names], { passphrase: GOOD })
    expect(made.json.credential).toBe('passphrase')
    expect(place.writ(['init', '--no-pass', '--json']).json.credential).toBe('passphrase')
    const file = readFileSync(join(place.stateOfHome, 'credential.json'), 'utf8')
    expect(JSON.parse(file).kdf).toMatchObject({ name: 'scrypt', N: 2 ** 17, r: 8 })

    const input = JSON.stringify(TASK)
    for (const args of [
      ['principal', 'add', 'device:pump-3@farm'],
      ['task', 'issue', '-'],
      ['ledger', 'rotate'],
      ['trust'],
    ]) {
      const bare = place.writ([...args, '--json'], { input })
      expect([bare.status, bare.json.error.code]).toEqual([1, 'credential.required'])
      const proven = [...args, '--json', '--pass-fd', '3']
      const wrong = place.writ(proven, { input, passphrase: 'four words are wrong' })
      expect([wrong.status, wrong.json.error.code]).toEqual([1, 'credential.wrong'])
      expect(place.writ(proven, { input, passphrase: GOOD }).status).toBe(0)
    }
    expect(place.writ(['log', '--json']).json.facts.map(typeOf)).toContain('ao_act_task_v0')
  }, 60_000)
})

const typeOf = ({ record }: { record: { type: string } }) => record.type

describe('principals', () => {
  it('keeps tokens as digests, shows them once, and takes no revoked or foreign one', () => {
    const place = new Place('tokens').init()
    const token = place.token('device:pump-3@farm')
    const digest = `sha256:${createHash('sha256').update(token).digest('hex')}`
    for (const file of ['principals.json', 'ledger.db']) {
      const bytes = readFileSync(join(place.stateOfHome, file)).toString('latin1')
      expect(bytes).not.toContain(token)
      if (file === 'principals.json') expect(bytes).toContain(digest)
    }
    const [listed] = place.writ(['token', 'list', '--json']).json.tokens
    expect(listed).toMatchObject({ principal: PUMP, status: 'live' })
    expect(place.writ(['task', 'list'], { token }).status).toBe(0)
    expect(place.writ(['token', 'revoke', listed.token_id]).status).toBe(0)
    for (const bad of [token, 'writ_guess', `${token}x`, '']) {
      const { status, json } = place.writ(['task', 'list', '--json'], { token: bad })
      expect([status, json.error.code]).toEqual([1, 'principal.token'])
    }
    const facts = place.writ(['log', '--stream', 'host', '--type', 'principal_v1', '--json']).json
      .facts
    expect(facts.map((fact: Json) => fact.record.payload.change)).toEqual([
      'added',
      'added',
      'token_created',
      'token_revoked',
    ])
    expect(facts[1].principal).toEqual(ANN)
  })

  it('never believes the copy over the facts', () => {
    const place = new Place('forged').init()
    const file = join(place.stateOfHome, 'principals.json')
    const register = JSON.parse(readFileSync(file, 'utf8'))
    const token = 'writ_forged'
    const digest = `sha256:${createHash('sha256').update(token).digest('hex')}`
    register.tokens.push({
      id: 't',
      digest,
      principal: ANN,
      createdAt: '',
      expiresAt: null,
      revokedAt: null,
    })
    writeFileSync(file, JSON.stringify(register))
    expect(place.writ(['log', '--json'], { token }).json.error.code).toBe('principal.token')
    expect(JSON.parse(readFileSync(file, 'utf8')).tokens).toEqual([])
  })

  it.each(['ai', 'script', 'device'])(
    'lets no %s decide (I1)',
    (kind) => {
      const place = new Place(`kind-${kind}`).init()
      const token = place.token(`${kind}:one@farm`)
      const [{ token_id: id }] = place.writ(['token', 'list', '--json']).json.tokens
      const before = place.writ(['log', '--stream', 'host', '--json']).json.facts.length
      for (const args of [
        ['principal', 'add', 'human:evil@farm'],
        ['principal', 'list'],
        ['token', 'create', `${kind}:one@farm`],
        ['token', 'revoke', id],
        ['token', 'list'],
        ['ledger', 'rotate'],
        ['trust'],
        ['init', '--no-pass'],
      ]) {
        const { status, json } = place.writ([...args, '--json'], { token })
        expect([args.join(' '), status, json.error.code]).toEqual([
          args.join(' '),
          1,
          'principal.not_human',
        ])
      }
      const refused = place.writ(['task', 'issue', '-', '--json'], {
        token,
        input: JSON.stringify(TASK),
      })
      expect(refused.status).toBe(1)
      expect(codes(refused)).toContain('principal.not_human')
      expect(codes(refused)).toContain('task.issuer_mismatch')
      expect(place.writ(['log', '--json']).json.facts).toEqual([])
      expect(place.writ(['log', '--stream', 'host', '--json']).json.facts).toHaveLength(before)
    },
    60_000,
  )
})
