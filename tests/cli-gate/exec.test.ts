/**
 * `writ exec` without a terminal: statuses, declarations, waiting, reports, streams and signals. Over 500
 * lines on purpose: every case is one command in one place.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Place } from './place.ts'

let place: Place

// Each test is several processes, and each of them a sandbox.
vi.setConfig({ testTimeout: 120_000 })

beforeAll(() => {
  place = new Place('exec', { runs: 'warm' }).init()
}, 180_000)

afterAll(() => place?.remove())

describe('what is out of sight', () => {
  it('are credentials of the home and writ’s own state; the rest of the home can be read', () => {
    const secrets = ['.ssh/id_ed25519', '.config/gh/hosts.yml', '.claude/.credentials.json']
    for (const name of ['notes', ...secrets]) {
      mkdirSync(dirname(join(place.home, name)), { recursive: true })
      writeFileSync(join(place.home, name), `content of ${name}\n`)
    }
    const state = join(place.folder, 'state', 'writ')
    const files = secrets.map((name) => `~/${name}`).join(' ')
    const { out, err } = place.exec([], `cat ~/notes; cat ${files}; ls -A ${state}`)
    expect(readdirSync(state)).not.toEqual([])
    expect(out).toBe('content of notes\n')
    expect(err).not.toContain('content of')
  })
})

describe('what cannot be taken as it is meant', () => {
  const through = (script: string) => ({ through: ['sh', '-c', script, 'sh'] })

  it('is a word that is no text: it would name another file', () => {
    place.write('c\ufffd')
    const words = through('exec "$@" rm -- "$(printf \'c\\377\')"')
    const ended = place.writ(['exec', '--yes', '--'], words)
    expect(ended).toMatchObject({ status: 125, lastLine: 'writ: cli.usage' })
    expect(ended.err).toContain('not UTF-8 text')
    expect(place.has('c\ufffd')).toBe(true)
    expect(place.exec(['--yes'], 'rm c\ufffd').status).toBe(0)
    expect(place.has('c\ufffd')).toBe(false)
  })

  it('is a directory that is no text, or not there any more', () => {
    const named = through('mkdir -p "$(printf \'d\\377\')" && cd d* && exec "$@"')
    const gone = through('mkdir gone && cd gone && rmdir ../gone && exec "$@"')
    for (const around of [named, gone]) {
      const ended = place.writ(['exec', '--', 'true'], around)
      expect(ended).toMatchObject({ status: 125, lastLine: 'writ: cli.usage' })
    }
    expect(place.has('d\ufffd')).toBe(false)
  })

  it('is a report where nothing can be written, and an old one is not left', () => {
    for (const file of ['nowhere/report.json', '.']) {
      const ended = place.exec(['--yes', '--report', file], 'echo x > reported')
      expect(ended).toMatchObject({ status: 125, lastLine: 'writ: cli.file_unwritable' })
      expect([ended.err.includes('nothing was run'), place.has('reported')]).toEqual([true, false])
    }
  })

  it('an older report is not left when a run is refused, and anything else is not touched', () => {
    const file = join(place.folder, 'report.json')
    expect(place.exec(['--report', file], 'true').status).toBe(0)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ report: 'writ-report/1' })
    expect(place.exec(['--report', file, '--scope', '/'], 'true').status).toBe(125)
    expect(readFileSync(file, 'utf8')).toBe('')
    const mine = place.write('mine.json', '{"mine":true}')
    symlinkSync(file, join(place.project, 'link.json'))
    for (const name of [
      mine,
      'link.json',
      '.writ/r.json',
      join(place.folder, 'state/writ/r.json'),
    ]) {
      const ended = place.exec(['--report', name], 'true', { isWarm: true })
      expect(ended, name).toMatchObject({ status: 125, lastLine: 'writ: cli.file_unwritable' })
    }
    expect(place.text('mine.json')).toBe('{"mine":true}')
  })

  it('a link that the run itself puts there is not followed by its report', () => {
    const victim = join(place.folder, 'victim')
    writeFileSync(victim, '')
    const ended = place.exec(['--yes', '--report', 'r2.json'], `ln -s ${victim} r2.json`)
    expect(ended).toMatchObject({ status: 125, lastLine: 'writ: cli.file_unwritable' })
    expect(readFileSync(victim, 'utf8')).toBe('')
  })

  it('a link leads no report out of the scope, and one inside it is followed', () => {
    const out = join(place.folder, 'out')
    mkdirSync(out)
    mkdirSync(join(place.project, 'reports'))
    symlinkSync(out, join(place.project, 'away'))
    symlinkSync('reports', join(place.project, 'within'))
    const older = join(out, 'older.json')
    expect(place.exec(['--report', older], 'true').status).toBe(0)
    const text = readFileSync(older, 'utf8')
    for (const name of ['away/new.json', 'away/older.json']) {
      const ended = place.exec(['--report', name], 'true', { isWarm: true })
      expect(ended).toMatchObject({ status: 125, lastLine: 'writ: cli.file_unwritable' })
      expect(ended.err).toContain('out of the scope')
      expect(ended.err).toContain(join(out, name.slice('away/'.length)))
    }
    expect(readFileSync(older, 'utf8')).toBe(text)
    expect(readdirSync(out)).toEqual(['older.json'])
    expect(place.exec(['--report', 'within/r.json'], 'true').status).toBe(0)
    expect(place.has('reports/r.json')).toBe(true)
  })

  it('the report of an actor is a .json file of the scope', () => {
    const token = place.token('ai:reporter@local')
    const loaded = ['package.json', 'tsconfig.json', 'lib/composer.json']
    mkdirSync(join(place.project, 'lib'), { recursive: true })
    const others = [join(place.folder, 'out.json'), 'env.sh', '.vscode/tasks.json']
    for (const name of [...others, ...loaded]) {
      mkdirSync(join(place.project, '.vscode'), { recursive: true })
      const ended = place.exec(['--report', name], 'true', { token, isWarm: true })
      expect(ended, name).toMatchObject({ status: 125, lastLine: 'writ: cli.file_unwritable' })
    }
    expect(place.exec(['--report', 'own.json'], 'true', { token }).status).toBe(0)
    expect(place.has('own.json')).toBe(true)
    expect(place.has('package.json')).toBe(false)
  })
})

describe('limits', () => {
  it.each([
    [
      'memory',
      ['--memory', '64'],
      'python3 -c "x=bytearray(600<<20)"',
      'memory of 64 MB; --memory',
    ],
    [
      'disk',
      ['--disk', '16'],
      'dd if=/dev/zero of=big bs=1M count=64',
      'disk space of 16 MB; --disk',
    ],
    ['time', ['--time', '1s'], 'sleep 20', 'time of 1s; --time'],
  ])('a cap that was reached is named: %s', (_cap, options, script, words) => {
    const ended = place.exec(options, script)
    expect(ended.status).toBe(125)
    expect(ended.err).toContain(`it used up its ${words} raises it, up to`)
  })

  it('no option asks for more than the laws allow', () => {
    const ended = place.exec(['--memory', '9000'], 'true')
    expect(ended).toMatchObject({ status: 125, lastLine: 'writ: descriptor.ceiling' })
    expect(ended.err).toContain('at most --memory 8192 MB')
  })
})

describe('statuses', () => {
  it('a run without effects is the command’s own, and no person is asked', () => {
    const own = { isWarm: false }
    const { status, out, err } = place.exec([], 'echo out; echo err >&2', own)
    expect({ status, out, err }).toEqual({ status: 0, out: 'out\n', err: 'err\n' })
    expect(place.exec([], 'exit 7', own)).toMatchObject({ status: 7, err: '' })
  })

  it('a declared effect is promoted without a question', () => {
    const { status, err } = place.exec(['--write', 'made.txt'], 'echo x > made.txt')
    expect({ status, err }).toEqual({ status: 0, err: '' })
    expect(place.text('made.txt')).toBe('x\n')
  })

  it('what was not declared is blocked, and nothing of it happens', () => {
    const ended = place.exec(['--write', 'a'], 'echo x > a; echo y > undeclared')
    expect(ended).toMatchObject({ status: 125, lastLine: 'writ: effect.undeclared' })
    expect(ended.err).toContain('undeclared')
    expect([place.has('a'), place.has('undeclared')]).toEqual([false, false])
  })

  it('deleting needs its own declaration', () => {
    place.write('kept.log')
    expect(place.exec(['--write', '*.log'], 'rm kept.log').status).toBe(125)
    expect(place.has('kept.log')).toBe(true)
    expect(place.exec(['--delete', '*.log'], 'rm kept.log').status).toBe(0)
    expect(place.has('kept.log')).toBe(false)
  })

  it('a command that fails keeps its declared effects and its status', () => {
    const ended = place.exec(['--write', 'half'], 'echo x > half; exit 3')
    expect(ended.status, ended.err).toBe(3)
    expect(place.text('half')).toBe('x\n')
  })

  it.each([
    ['a status', 'exit 3'],
    ['a signal', 'kill -KILL $$'],
  ])('undeclared effects of a command that fails with %s wait, also with --yes', (_how, end) => {
    const ended = place.exec(['--yes'], `echo x > quarter; ${end}`)
    expect(ended).toMatchObject({ status: 75, lastLine: 'writ: result.failed' })
    expect(ended.err).not.toContain('denied')
    const words = /the command (failed with status 3|was ended by SIGKILL)/
    expect(ended.err).toMatch(words)
    expect(place.has('quarter')).toBe(false)
    const [{ id }] = place.pending()
    expect(place.writ(['inbox', id]).out).toMatch(words)
    expect(place.writ(['deny', id]).status).toBe(0)
    expect(place.pending()).toEqual([])
  })

  it('an agent’s failing command waits, no matter what it declared', () => {
    const token = place.token('ai:failing@local')
    const ended = place.exec(['--write', 'third'], 'echo x > third; exit 3', { token })
    expect(ended).toMatchObject({ status: 75, lastLine: 'writ: result.failed' })
    const [{ id }] = place.pending()
    const passphrase = place.writ(['approve', id, '--yes'])
    expect([passphrase.status, place.has('third')]).toEqual([1, false])
    expect(place.writ(['deny', id]).status).toBe(0)
  })

  it('--yes is the plain yes', () => {
    const { status, err } = place.exec(['--yes'], 'echo x > agreed')
    expect({ status, err }).toEqual({ status: 0, err: '' })
    expect(place.has('agreed')).toBe(true)
  })

  it('a signal is 128 and its number; a program that is not there is 127', () => {
    expect(place.exec([], 'kill -TERM $$', { isWarm: false }).status).toBe(143)
    const missing = place.writ(['exec', '--', 'no-such-program-here'])
    expect(missing).toMatchObject({
      status: 127,
      err: 'command not found: no-such-program-here\n',
    })
  })
})

describe('waiting', () => {
  it('without a terminal the question waits, and a yes from another process promotes', () => {
    const ended = place.exec([], 'echo x > later')
    expect(ended.status).toBe(75)
    expect(ended.lastLine).toMatch(/^writ: confirm\./)
    expect(place.has('later')).toBe(false)
    const [question] = place.pending()
    expect(question).toMatchObject({
      effects: { added: 1, modified: 0, deleted: 0 },
      needs: 'plain',
    })
    const shown = place.writ(['inbox'])
    expect(shown.out).toContain(question.result_digest.slice('sha256:'.length).slice(0, 8))
    expect(shown.out).toContain('1 added')
    const approved = place.writ(['approve', '--yes', question.id, '--json'])
    expect(approved.status, approved.out + approved.err).toBe(0)
    expect(approved.json).toMatchObject({ action_id: question.action_id, promoted: true })
    expect(place.text('later')).toBe('x\n')
    expect(place.pending()).toEqual([])
  })

  it('an answer counts once', () => {
    expect(place.exec([], 'echo x > once').status).toBe(75)
    const [{ action_id: id }] = place.pending()
    expect(place.writ(['deny', id, '--reason', 'no', '--json'])).toMatchObject({
      status: 0,
      json: { action_id: id, promoted: false },
    })
    expect(place.has('once')).toBe(false)
    const again = place.writ(['approve', '--yes', id, '--json'])
    expect(again).toMatchObject({ status: 1, json: { error: { code: 'confirm.denied' } } })
    expect(place.has('once')).toBe(false)
  })
})

describe('the caller', () => {
  it('an actor’s token proposes and never answers (I1)', () => {
    const token = place.token('ai:coder@local')
    expect(place.exec(['--yes'], 'echo x > by-ai', { token }).status).toBe(75)
    expect(place.has('by-ai')).toBe(false)
    for (const args of [
      ['approve', 'x'],
      ['deny', 'x'],
      ['rollback', '8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11'],
      ['undo'],
      ['halt'],
      ['resume'],
    ]) {
      const ended = place.writ([...args, '--json'], { token })
      expect(ended, args.join(' ')).toMatchObject({
        status: 1,
        json: { error: { code: 'principal.not_human' } },
      })
    }
  })

  it('a plain yes does not count below a known agent', () => {
    const through = ['bash', '-c', 'exec -a claude bash -c \'"$@"; exit $?\' claude "$@"', 'x']
    expect(place.exec(['--yes'], 'echo x > below', { through }).status).toBe(75)
    expect(place.has('below')).toBe(false)
    const id = place.pending().at(-1)?.id ?? ''
    expect(place.writ(['approve', '--yes', id], { through }).status).not.toBe(0)
    expect(place.has('below')).toBe(false)
  })
})

describe('writes to the home outside the scope', () => {
  it('are left out of an undeclared run, and listed', () => {
    const script = 'mkdir -p ~/.config/tool; echo x > ~/.config/tool/state; echo x > beside-home'
    const ended = place.exec(['--yes'], script)
    expect(ended.status, ended.err).toBe(0)
    expect(place.has('beside-home')).toBe(true)
    expect(existsSync(join(place.home, '.config/tool'))).toBe(false)
    const asked = place.exec([], `${script}2`)
    expect(asked.status).toBe(75)
    expect(asked.err).toContain(join(place.home, '.config/tool/state'))
    expect(place.writ(['deny', place.pending().at(-1).id]).status).toBe(0)
    expect(place.writ(['replay', '--json']).json).toMatchObject({ ok: true })
  })

  it('block a declared run, and that of an agent', () => {
    const token = place.token('ai:homely@local')
    const script = 'echo x > ~/elsewhere'
    expect(place.exec(['--write', '.'], script).lastLine).toBe('writ: effect.out_of_scope')
    expect(place.exec([], script, { token }).lastLine).toBe('writ: effect.out_of_scope')
  })
})

describe('variables', () => {
  const env = {
    NODE_EXTRA_CA_CERTS: '/ca.pem',
    npm_config_registry: 'https://npm.example/',
    npm_config__authToken: 'secret',
    DATABASE_URL: 'postgres://x',
    PORT: '3000',
  }
  const show =
    'echo "$NODE_EXTRA_CA_CERTS,$npm_config_registry,$npm_config__authToken,$DATABASE_URL,$PORT"'

  it('usual ones pass, others are named in the report, --env adds one', () => {
    const report = join(place.folder, 'env-report.json')
    const plain = place.exec(['--report', report], show, { env })
    expect(plain.out).toBe('/ca.pem,https://npm.example/,,,3000\n')
    const { dropped_variables } = JSON.parse(readFileSync(report, 'utf8'))
    expect(dropped_variables).toEqual(
      expect.arrayContaining(['DATABASE_URL', 'npm_config__authToken']),
    )
    expect(place.exec(['--env', 'DATABASE_URL', '--env', 'PORT=1'], show, { env }).out).toBe(
      '/ca.pem,https://npm.example/,,postgres://x,1\n',
    )
    expect(place.exec(['--env', 'NOT_SET_HERE'], 'true').lastLine).toBe('writ: cli.usage')
  })
})

describe('what is thrown away', () => {
  it('entries of the private /tmp are counted in one line', () => {
    const { err, status } = place.exec([], 'echo x > /tmp/one; mkdir /tmp/two; echo y > /tmp/two/y')
    expect(status).toBe(0)
    expect(err).toBe('writ exec: 2 entries of /tmp were thrown away: a run has a /tmp of its own\n')
  })

  it('settings of package managers come in without their secrets', () => {
    writeFileSync(join(place.home, '.npmrc'), 'registry=https://npm.example/\n_auth=secret\n')
    const script = 'echo "$npm_config_registry"; cat ~/.npmrc; env | grep -c secret'
    expect(place.exec([], script).out).toBe('https://npm.example/\n0\n')
  })
})

describe('after an undo', () => {
  it('the same command of a person is a question that --yes does not answer', () => {
    const again = () => place.exec(['--yes'], 'echo x > back-again')
    expect(again().status).toBe(0)
    expect(place.writ(['undo']).status).toBe(0)
    const asked = again()
    expect(asked).toMatchObject({ status: 75, lastLine: 'writ: cooldown' })
    expect(asked.err.match(/taken back|undone/g)).toHaveLength(1)
    expect(place.has('back-again')).toBe(false)
    const { id, reasons } = place.pending().at(-1)
    const codes = reasons.map(({ code }: { code: string }) => code)
    expect(codes).toEqual(['cooldown', 'confirm.descriptor'])
    const seen = place.person(['approve', id], [{ expect: 'show all] ' }, { send: 'y\n' }])
    expect(seen).toMatchObject({ failed: null, status: 0 })
    expect(place.has('back-again')).toBe(true)
  })

  it('an agent is refused, and reads until when and what lifts it', () => {
    const token = place.token('ai:undone@local')
    const again = () => place.exec(['--write', 'by-agent'], 'echo x > by-agent', { token })
    expect(again().status).toBe(0)
    expect(place.writ(['undo']).status).toBe(0)
    const refused = again()
    expect(refused).toMatchObject({ status: 125, lastLine: 'writ: cooldown' })
    expect(refused.err).toMatch(
      /refused until \d{4}-\d\d-\d\dT.*Z; .*writ override --lift [0-9a-f-]{36}/,
    )
    const [id = ''] = /[0-9a-f-]{36}/.exec(refused.err) ?? []
    const explained = place.writ(['laws', 'explain', id]).out
    expect(explained).toMatch(/cools down until \d{4}-/)
    expect(explained).toContain(`writ override --lift ${id}`)
  })
})

describe('a run without a network', () => {
  const connect = (address: string) =>
    `python3 -c 'import socket; socket.create_connection(("${address}", 9), 1)' 2>/dev/null; true`
  const notice = 'writ exec: this run has no network: add --net HOST'

  it('says so when the command tries to reach an address or resolve a name', () => {
    expect(place.exec([], connect('192.0.2.1')).err).toContain(notice)
    expect(place.exec([], connect('no-such-name.example')).err).toContain(notice)
  })

  it('says nothing when the command speaks with itself', () => {
    expect(place.exec([], connect('127.0.0.1'))).toMatchObject({ status: 0, err: '' })
    const own = `python3 -c 'import socket; socket.getaddrinfo(socket.gethostname(), 9)'`
    expect(place.exec([], own)).toMatchObject({ status: 0, err: '' })
  })

  it('names each refused host once, with what would let it through', () => {
    const get = 'curl -s http://not-named.example/ >/dev/null; true'
    const { err } = place.exec(['--net', 'registry.npmjs.org'], `${get}; ${get}`)
    const lines = err.split('\n').filter((line) => line.startsWith('writ exec: refused'))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('GET not-named.example:80')
    expect(lines[0]).toContain('--net not-named.example names it')
  })
})

describe('words', () => {
  it('everything behind -- is the command’s', () => {
    const { status, out } = place.writ(['exec', '--', 'printf', '%s ', '--json', '--help', '--yes'])
    expect({ status, out }).toEqual({ status: 0, out: '--json --help --yes ' })
  })

  it.each([
    [['exec'], 'cli.usage'],
    [['exec', '--frob', '--', 'true'], 'cli.unknown_option'],
    [['exec', '--json', '--', 'true'], 'cli.usage'],
    [['exec', '--net', 'http://example.org/', '--', 'true'], 'cli.usage'],
    [['exec', '--scope', '/', '--', 'true'], 'descriptor.scope_implicit'],
    [['exec', '--scope', '/usr', '--', 'true'], 'descriptor.scope_implicit'],
    [['exec', '--home', '/nowhere', '--', 'true'], 'home.missing'],
  ])('%j is 125 and says %s last', (args, code) => {
    const ended = place.writ(args)
    expect(ended).toMatchObject({ status: 125, lastLine: `writ: ${code}` })
  })

  it('the home itself is no scope, and the hint says what to do', () => {
    const ended = place.exec([], 'true', {
      cwd: place.home,
      env: { WRIT_HOME: join(place.project, '.writ') },
    })
    expect(ended).toMatchObject({ status: 125, lastLine: 'writ: descriptor.scope_implicit' })
    expect(ended.err).toContain('--scope')
  })

  it('--report writes propose’s answer', () => {
    const file = join(place.folder, 'report.json')
    place.exec(['--write', 'reported', '--report', file], 'echo x > reported; echo out')
    const report = JSON.parse(readFileSync(file, 'utf8'))
    expect(report).toMatchObject({
      decision: { decision: 'PROMOTE', code: 'promote.ok' },
      promoted: true,
      promotion: { paths: [join(place.project, 'reported')] },
      result: { diff: { counts: { added: 1, modified: 0, deleted: 0 } } },
    })
    expect(report.action_id).toMatch(/^[0-9a-f-]{36}$/)
    expect(report.proposal_digest).toMatch(/^sha256:/)
  })
})

describe('many effects', () => {
  it('the report lists them all, and the words count what is new', () => {
    const file = join(place.folder, 'many.json')
    const script = 'mkdir many; for i in $(seq 300); do echo $i > many/$i; done'
    const ended = place.exec(['--report', file], script)
    expect(ended.status).toBe(75)
    expect(ended.err).toContain('and 281 more: writ inbox ')
    expect(ended.err.split('\n').length).toBeLessThan(45)
    const { result } = JSON.parse(readFileSync(file, 'utf8'))
    expect(result.diff.counts.added).toBe(301)
    expect(result.diff.added).toHaveLength(301)
    const id = place.pending().at(-1)?.id ?? ''
    const approved = place.writ(['approve', '--yes', id, '--json'])
    expect(approved.json.result.diff.added).toHaveLength(301)
    expect(approved.json.promotion.paths).toHaveLength(301)
  })
})

describe('streams', () => {
  it('input goes in and output comes out, byte for byte', () => {
    const input = Buffer.alloc(3_000_000, 0)
    for (let index = 0; index < input.length; index++) input[index] = (index * 7) & 0x7f
    const { status, out } = place.writ(['exec', '--', 'cat'], { input, isWarm: false })
    expect(status).toBe(0)
    expect(Buffer.from(out).equals(input)).toBe(true)
  })

  it('names of every kind come through', () => {
    const script = String.raw`printf x > "$(printf 'a\nb')"; printf x > "$(printf 'c\033[31m')"; printf x > "$(printf '\377')"`
    const waiting = place.exec([], script)
    expect(waiting.status).toBe(75)
    expect(waiting.err).not.toContain('\u001b')
    expect(waiting.err).toContain('a\\u000ab')
    const id = place.pending().at(-1)?.id ?? ''
    expect(place.writ(['approve', '--yes', id]).status).toBe(0)
    const names = readdirSync(place.project, { encoding: 'buffer' }).map((name) =>
      name.toString('latin1'),
    )
    expect(names).toEqual(expect.arrayContaining(['a\nb', 'c\u001b[31m', '\u00ff']))
  })
})

/** The process that was started with these words, by the machine's own number. */
function processOf(words: string): number | null {
  for (const name of readdirSync('/proc')) {
    if (/^\d+$/.test(name) && textOf(`/proc/${name}/cmdline`).startsWith(words)) return Number(name)
  }
  return null
}

function stateOf(pid: number): string {
  return /\) (\S)/.exec(textOf(`/proc/${pid}/stat`))?.[1] ?? 'gone'
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

describe('signals', () => {
  async function signalled(
    name: NodeJS.Signals,
    script: string,
    times = 1,
  ): Promise<number | null> {
    const child = place.start(['exec', '--yes', '--', 'sh', '-c', script])
    const ended = new Promise<number | null>((resolve) => {
      child.on('close', (code) => resolve(code))
    })
    await new Promise<void>((resolve) => {
      child.stdout?.on('data', (chunk: Buffer) => {
        if (chunk.toString().includes('ready')) resolve()
      })
    })
    child.kill(name)
    for (let count = 1; count < times; count++) {
      await pause(1_200)
      child.kill(name)
    }
    return ended
  }

  it('a stop stops what runs inside as well, until it is taken up again', async () => {
    const child = place.start(['exec', '--', 'sleep', '4747.25'])
    const inside = () => processOf('sleep\u00004747.25')
    await expect.poll(inside, { timeout: 30_000 }).not.toBeNull()
    const pid = inside() ?? 0
    child.kill('SIGTSTP')
    await expect.poll(() => [stateOf(pid), stateOf(child.pid ?? 0)]).toEqual(['T', 'T'])
    child.kill('SIGCONT')
    await expect.poll(() => [stateOf(pid), stateOf(child.pid ?? 0)]).toEqual(['S', 'S'])
    const ended = new Promise((resolve) => child.on('close', resolve))
    child.kill('SIGTERM')
    expect(await ended).toBe(143)
  })

  it('are the command’s to answer', async () => {
    expect(
      await signalled('SIGINT', 'trap "exit 5" INT; echo ready; while :; do sleep 0.1; done'),
    ).toBe(5)
    expect(
      await signalled('SIGHUP', 'trap "exit 6" HUP; echo ready; while :; do sleep 0.1; done'),
    ).toBe(6)
    expect(
      await signalled('SIGQUIT', 'trap "exit 7" QUIT; echo ready; while :; do sleep 0.1; done'),
    ).toBe(7)
  })

  it('a wish to end reaches the command, and its effects wait', async () => {
    const script = 'echo x > ended; echo ready; sleep 30'
    expect(await signalled('SIGTERM', script)).toBe(75)
    expect(place.has('ended')).toBe(false)
    const { id } = place.pending().at(-1)
    expect(place.writ(['approve', id, '--yes']).status).toBe(0)
    expect(place.text('ended')).toBe('x\n')
  })

  it('a second wish to end is not the command’s to refuse', async () => {
    const script = 'trap "" TERM; echo x > stubborn; echo ready; sleep 60'
    expect(await signalled('SIGTERM', script, 2)).toBe(75)
    expect(place.has('stubborn')).toBe(false)
    expect(place.pending().at(-1)).toMatchObject({ effects: { added: 1 } })
  })

  it('one to writ and then to its whole group, as of `timeout`, leaves the effects waiting', async () => {
    const script =
      'trap "echo y > tidied; exit 7" TERM; echo x > timed; echo ready; while :; do sleep 0.1; done'
    const through = ['setsid']
    const child = place.start(['exec', '--', 'sh', '-c', script], { through })
    const ended = new Promise((resolve) => child.on('close', resolve))
    await new Promise((resolve) => child.stdout?.once('data', resolve))
    child.kill('SIGTERM')
    await pause(50)
    // On a busy machine all of it may have ended by now.
    if (child.exitCode === null) process.kill(-(child.pid ?? 0), 'SIGTERM')
    expect(await ended).toBe(75)
    const { id, effects } = place.pending().at(-1)
    expect(effects).toMatchObject({ added: 2 })
    expect(place.writ(['approve', id, '--yes']).status).toBe(0)
    expect([place.text('timed'), place.text('tidied')]).toEqual(['x\n', 'y\n'])
  })
})
