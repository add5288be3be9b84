/** `writ exec` at a terminal: the command's own pty, signals, what is shown, the question. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { resetFor } from '../../src/cli/effects/reset.ts'
import { Place } from './place.ts'

let place: Place

// Each test is several processes, and each of them a sandbox.
vi.setConfig({ testTimeout: 120_000 })

beforeAll(() => {
  place = new Place('terminal').init()
}, 180_000)

afterAll(() => place?.remove())

/** As it comes out of a terminal, which makes two characters of a line feed. */
const RESET = resetFor(null).replaceAll('\n', '\r\n')
const COOKED = { echo: true, lines: true }
const RAW = { echo: false, lines: false }
const ASKED = '[y/N/later, a: show all] '
const YES = [{ expect: ASKED }, { send: 'y\n' }]

describe('the command', () => {
  it('has a terminal of its own, of our size, that follows ours', () => {
    const script =
      'tty; stty size; echo ready; read x; stty size; test -t 0 && test -t 1 && test -t 2 && echo all'
    const seen = place.execAsPerson([], script, [
      { expect: 'ready' },
      { resize: [40, 120] },
      { pause: 0.5 },
      { send: 'x\n' },
      { expect: 'all' },
    ])
    expect(seen.failed).toBeNull()
    expect(seen.output).toMatch(/\/dev\/pts\/\d+/)
    expect(seen.output).toContain('31 101')
    expect(seen.output).toContain('40 120')
    expect(seen.status).toBe(0)
    expect(seen.modes[0]).toEqual(RAW)
    expect(seen.mode).toEqual(COOKED)
  })

  it('draws as it wants to: its bytes come out as they are', () => {
    const seen = place.execAsPerson([], "printf 'a\\nb'; stty -opost; printf 'c\\nd'", [
      { expect: 'a\r\nbc\nd' },
    ])
    expect(seen).toMatchObject({ failed: null, status: 0, mode: COOKED })
  })

  it('can be put aside with Ctrl-Z and taken up again', () => {
    const script =
      'echo rea""dy; i=0; while [ $i -lt 20 ]; do i=$((i+1)); sleep 0.1; done; echo ov""er'
    const command = place
      .argv(['exec', '--', 'sh', '-c', script])
      .map((word) => `'${word}'`)
      .join(' ')
    const seen = place.at(
      ['bash', '--norc', '-i'],
      [
        { send: `${command}\n` },
        { expect: 'ready' },
        { send: '\u001a' },
        { expect: 'Stopped' },
        { send: 'echo be""tween; stty -a | grep -ow icanon\n' },
        { expect: 'between\r\nicanon' },
        { send: 'fg\n' },
        { expect: 'over' },
        { expect: 'PROMPT ' },
        { send: 'echo "status $?"; exit 0\n' },
        { expect: 'status 0' },
      ],
      { env: { PS1: 'PROMPT ' } },
    )
    expect(seen).toMatchObject({ failed: null, status: 0 })
  })

  it('ends when it went on and was over in the same breath', () => {
    const command = place
      .argv(['exec', '--', 'sh', '-c', 'echo rea""dy; sleep 0.5; echo ov""er'])
      .map((word) => `'${word}'`)
      .join(' ')
    const round = [
      { send: `${command}\n` },
      { expect: 'ready' },
      { send: '\u001a' },
      { expect: 'Stopped' },
      // It waits so long that nothing is left to wait for.
      { send: 'sleep 1; fg\n' },
      { expect: 'over' },
      { expect: 'PROMPT ' },
    ]
    const end = [{ send: 'echo "status $?"; exit 0\n' }, { expect: 'status 0' }]
    const rounds = [...round, ...round, ...end]
    const seen = place.at(['bash', '--norc', '-i'], rounds, { env: { PS1: 'PROMPT ' } })
    expect(seen).toMatchObject({ failed: null, status: 0 })
  })

  it('gets what is typed, and Ctrl-C as a signal', () => {
    const script = 'trap "echo caught; exit 5" INT; echo ready; while :; do sleep 0.1; done'
    const seen = place.execAsPerson([], script, [
      { expect: 'ready' },
      { send: '\u0003' },
      { expect: 'caught' },
    ])
    expect(seen).toMatchObject({ failed: null, status: 5, mode: COOKED })
  })

  it.each([
    ['SIGTERM', 15],
    ['SIGHUP', 1],
  ])('%s gives the terminal back, and the effects wait', (name, signal) => {
    const seen = place.execAsPerson([], `echo x > by-${name}; echo ready; sleep 20`, [
      { expect: 'ready' },
      { signal },
    ])
    expect(seen).toMatchObject({ failed: null, status: 75, mode: COOKED })
    expect(place.has(`by-${name}`)).toBe(false)
  })

  it('a terminal that goes away leaves the effects in the inbox', () => {
    const script = 'echo x > hung-up; while :; do echo tick; sleep 0.2; done'
    const seen = place.execAsPerson([], script, [{ expect: 'tick' }, { hangup: true }])
    expect(seen).toMatchObject({ failed: null, status: 129 })
    expect(place.has('hung-up')).toBe(false)
    expect(place.pending().at(-1)).toMatchObject({ effects: { added: 1 } })
  })

  it('a promotion is reported in one line with its undo, and -q leaves it out', () => {
    const told = place.execAsPerson(['--yes'], 'echo x > told', [])
    expect(told.output).toMatch(
      /promoted {2}1 added \([0-9a-f]{8}-[0-9a-f]{4}\); take it back with `writ undo`/,
    )
    const quiet = place.execAsPerson(['--yes', '-q'], 'echo x > quiet', [])
    expect(quiet).toMatchObject({ status: 0 })
    expect(quiet.output).not.toContain('promoted')
  })

  it('is left alone without effects: no question, no reset', () => {
    const seen = place.execAsPerson([], 'echo hello', [])
    expect(seen).toMatchObject({ status: 0, mode: COOKED })
    expect(seen.output).not.toContain(ASKED)
    expect(seen.output).not.toContain(RESET)
  })
})

describe('the question', () => {
  it('follows the reset and the effects, repeats counts and digest, and yes promotes', () => {
    place.write('old.log', 'old\n')
    place.write('page.txt', 'one\ntwo\n')
    const script =
      'rm old.log; printf "one\\n2\\n" > page.txt; mkdir -p new; echo a > new/a; printf "\\033[?1049h\\033[8m"'
    const seen = place.execAsPerson([], script, YES)
    expect(seen).toMatchObject({ failed: null, status: 0, mode: COOKED })
    expect(seen.output).toContain(RESET)
    const shown = seen.output.slice(seen.output.indexOf(RESET))
    const places = [
      'Deleted (1)',
      '- old.log',
      'Changed (1)',
      '~ page.txt',
      '-two',
      '+2',
      'Added (2)',
      '+ new/',
      '1 deleted, 1 changed, 2 added, result ',
    ].map((text) => shown.indexOf(text))
    expect(places).not.toContain(-1)
    expect(places).toEqual(places.toSorted((one, other) => one - other))
    expect(place.text('page.txt')).toBe('one\n2\n')
    expect(place.has('old.log')).toBe(false)
  })

  it('the digits are those of the result', () => {
    const report = `${place.folder}/report.json`
    const seen = place.execAsPerson(['--report', report], 'echo x > digits', YES)
    const digest = JSON.parse(execFileSync('cat', [report], { encoding: 'utf8' })).decision
      .result_digest
    expect(seen.output).toContain(`1 added, result ${digest.slice('sha256:'.length).slice(0, 8)}:`)
  })

  it.each([
    ['n', 'n\n'],
    ['Enter', '\n'],
  ])('%s is a no', (name, send) => {
    const file = `no-${name.replaceAll(' ', '')}`
    const seen = place.execAsPerson([], `echo x > ${file}`, [{ expect: ASKED }, { send }])
    expect(seen).toMatchObject({ failed: null, status: 125, mode: COOKED })
    expect(seen.output.trimEnd()).toMatch(/\nwrit: confirm\.[a-z_]+$/)
    expect(place.has(file)).toBe(false)
  })

  it.each([
    ['later', 'later\n'],
    ['Ctrl-D', '\u0004'],
    ['Ctrl-C', '\u0003'],
  ])('%s leaves it waiting in the inbox', (name, send) => {
    const file = `wait-${name}`
    const seen = place.execAsPerson([], `echo x > ${file}`, [{ expect: ASKED }, { send }])
    expect(seen).toMatchObject({ failed: null, status: 75, mode: COOKED })
    const { id } = place.pending().at(-1)
    expect(seen.output).toContain(`writ approve ${id}`)
    expect(place.has(file)).toBe(false)
    expect(place.writ(['approve', '--yes', id]).status).toBe(0)
    expect(place.has(file)).toBe(true)
  })

  it('asks again after a word that is no answer', () => {
    const steps = [{ expect: ASKED }, { send: 'yup\n' }, ...YES]
    const seen = place.execAsPerson([], 'echo x > asked-again', steps)
    expect(seen).toMatchObject({ failed: null, status: 0 })
  })

  it('what was typed before it stood there does not count', () => {
    const seen = place.execAsPerson([], 'echo x > early', [
      { expect: 'Added (1)' },
      { send: 'y\n' },
      { expect: ASKED },
      { pause: 0.3 },
      { send: '\n' },
    ])
    expect(seen).toMatchObject({ failed: null, status: 125 })
    expect(place.has('early')).toBe(false)
  })

  it('no person is asked below a known agent, nor with an actor’s token', () => {
    const through = ['bash', '-c', 'exec -a claude bash -c \'"$@"; exit $?\' claude "$@"', 'x']
    for (const around of [{ through }, { token: place.token('ai:typist@local') }]) {
      const args = ['exec', '--yes', '--', 'sh', '-c', 'echo x > not-asked']
      const seen = place.person(args, [], around)
      expect(seen).toMatchObject({ status: 75, mode: COOKED })
      expect(seen.output).not.toContain(ASKED)
      expect(place.has('not-asked')).toBe(false)
    }
  })

  it('a shows all, and asks again', () => {
    const script = 'for i in $(seq 50); do echo "content $i" > many-$i; done'
    const seen = place.execAsPerson([], script, [
      { expect: '`a` lists them' },
      { expect: ASKED },
      { send: 'a\n' },
      { expect: 'many-50' },
      { expect: '+content 50' },
      ...YES,
    ])
    expect(seen).toMatchObject({ failed: null, status: 0 })
    expect(place.has('many-50')).toBe(true)
  })

  it('tells that the command failed; only a yes to that promotes, and the status stays', () => {
    const failed = 'the command failed with status 3'
    const no = place.execAsPerson(['--yes'], 'echo x > broken; exit 3', [
      { expect: failed },
      { expect: ASKED },
      { send: '\n' },
    ])
    expect(no).toMatchObject({ failed: null, status: 125 })
    expect(place.has('broken')).toBe(false)
    const yes = place.execAsPerson([], 'echo x > broken; exit 3', [{ expect: failed }, ...YES])
    expect(yes).toMatchObject({ failed: null, status: 3 })
    expect(place.has('broken')).toBe(true)
  })

  it('shows nothing that the terminal would obey', () => {
    const script = String.raw`printf 'a\033[2Jb\342\200\256c\n' > "$(printf 'x\033]0;t\007y')"; chmod +x x*`
    const seen = place.execAsPerson([], script, [
      { expect: ASKED },
      { send: 'a\n' },
      { expect: ASKED },
      { send: 'n\n' },
    ])
    expect(seen.failed).toBeNull()
    const start = seen.output.indexOf(RESET) + RESET.length
    const shown = seen.output.slice(start).replaceAll(RESET, '')
    expect(shown).not.toContain('\u001b')
    expect(shown).not.toContain('\u202e')
    expect(shown).toContain('x\\u001b]0;t\\u0007y')
    expect(shown).toContain('+a\\u001b[2Jb\\u202ec')
  })

  it('with pipes on one side it is asked on standard error', () => {
    const around = { through: ['sh', '-c', '"$@" > "$HOME/out.txt"', 'x'] }
    const script = 'echo out; echo x > piped'
    const seen = place.person(['exec', '--', 'sh', '-c', script], YES, around)
    expect(seen).toMatchObject({ failed: null, status: 0, mode: COOKED })
    expect(readFileSync(`${place.home}/out.txt`, 'utf8')).toBe('out\n')
    expect(place.has('piped')).toBe(true)
  })

  it('is asked also after the command read all that was typed', () => {
    const around = { through: ['sh', '-c', '"$@" > "$HOME/out.txt"', 'x'] }
    const steps = [{ pause: 1 }, { send: 'typed\n' }, { pause: 0.2 }, { send: '\u0004' }, ...YES]
    const seen = place.person(['exec', '--', 'sh', '-c', 'cat > from-keys'], steps, around)
    expect(seen).toMatchObject({ failed: null, status: 0, mode: COOKED })
    expect(place.text('from-keys')).toBe('typed\n')
  })

  it('a terminal without sequences is sent none', () => {
    const around = { env: { TERM: 'dumb' } }
    const seen = place.person(['exec', '--', 'sh', '-c', 'echo x > dumb'], YES, around)
    expect(seen).toMatchObject({ failed: null, status: 0 })
    expect(seen.output).not.toContain('\u001b')
  })

  it('what others changed meanwhile does not ask again', () => {
    const other = place.write('other.txt')
    const script = 'echo x > again'
    const seen = place.execAsPerson([], script, [
      { expect: ASKED },
      { write: other },
      { send: 'y\n' },
    ])
    expect(seen).toMatchObject({ failed: null, status: 0, mode: COOKED })
    expect(place.has('again')).toBe(true)
  })
})

describe('what a command could pretend', () => {
  const [STOP, CONTINUE] = [19, 18]

  it('keys that were pressed while writ stood still do not answer', () => {
    const steps = [
      { expect: 'Question ' },
      { signal: STOP },
      { send: 'y\n' },
      { pause: 0.35 },
      { absent: ASKED },
      { signal: CONTINUE },
      { expect: ASKED },
      { pause: 0.3 },
      { send: 'n\n' },
    ]
    // The stop has to come before the question; a slow machine may take several tries.
    for (let attempt = 0; attempt < 10; attempt++) {
      const seen = place.execAsPerson([], `echo x > early${attempt}`, steps)
      if (seen.failed?.startsWith('absent')) continue
      expect(seen).toMatchObject({ failed: null, status: 125, mode: COOKED })
      expect(place.has(`early${attempt}`)).toBe(false)
      return
    }
    expect.unreachable('the question always came first')
  })

  it('output behind a pipe: the question waits', () => {
    const command = place.argv(['exec', '--', 'sh', '-c', 'echo x > behind-pipe; echo out'])
    const words = command.map((word) => `'${word}'`).join(' ')
    const seen = place.at(['sh', '-c', `${words} | tee log`], [{ expect: 'not asked here' }])
    expect(seen.output, place.writ(['log', '--newest', '--limit', '6']).out).toContain(
      'not asked here',
    )
    expect(seen).toMatchObject({ failed: null, mode: COOKED })
    expect(seen.output).not.toContain(ASKED)
    expect(place.pending().at(-1)).toMatchObject({ effects: { added: 1 } })
    expect(place.has('behind-pipe')).toBe(false)
  })

  it('a prompt for the passphrase: none is given after the command has begun', () => {
    const passphrase = 'these are four words'
    const locked = new Place('locked-terminal').init(passphrase)
    try {
      const laws = locked.text('.writ/laws.yaml')
      locked.write('.writ/laws.yaml', laws.replace('plain_yes: true', 'plain_yes: false'))
      expect(
        locked.writ(['laws', 'accept', '--yes', '--pass-fd', '3'], { passphrase }).status,
      ).toBe(0)
      const seen = locked.execAsPerson([], 'echo x > secret', [{ expect: 'not asked here' }])
      expect(seen).toMatchObject({ failed: null, status: 75 })
      expect(seen.output).not.toContain('passphrase for')
      const [{ id }] = locked.pending()
      const approved = locked.writ(['approve', id, '--yes', '--pass-fd', '3'], { passphrase })
      expect(approved.status, approved.err).toBe(0)
    } finally {
      locked.remove()
    }
  })
})
