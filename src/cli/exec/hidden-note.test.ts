/** What of a command's words and output names a hidden place. */
import { expect, it } from 'vitest'
import { HiddenNote } from './hidden-note.ts'

const PLACES = ['/home/ann/.ssh', '/home/ann/shop/secrets']

function noted(argv: readonly string[], output: string, hasNetwork = false): readonly string[] {
  const note = new HiddenNote({ argv, cwd: '/home/ann/shop', home: '/home/ann' })
  const run = note.watching({ stdin: 'empty', terminal: null, onOutput: () => {} }, () => {})
  run.onHidden?.({ places: PLACES, byLaws: ['/home/ann/shop/secrets'], hasNetwork })
  for (const piece of output.match(/[\s\S]{1,7}/g) ?? []) {
    run.onOutput('stdout', Buffer.from(piece))
  }
  return note.lines().map((line) => line.split(' ')[0] ?? '')
}

it.each<[string, string[], string, string[]]>([
  ['a word', ['cat', '/home/ann/.ssh/config'], '', ['~/.ssh']],
  ['a word with a tilde, in a script', ['sh', '-c', 'cat ~/.ssh/a'], '', ['~/.ssh']],
  ['a relative word', ['ls', 'secrets'], '', ['~/shop/secrets']],
  ['another name that begins alike', ['cat', 'secrets.md', '~/.ssh-old', 'my/secrets2'], '', []],
  ['a failure', ['x'], 'x: /home/ann/.ssh/id: No such file or directory\n', ['~/.ssh']],
  ['a line that reports no failure', ['x'], 'uses /home/ann/.ssh/id\n', []],
])('%s', (_name, argv, output, names) => {
  expect(noted(argv, output)).toEqual(names)
})

it('says what would show the place', () => {
  const note = new HiddenNote({ argv: ['cat', '~/.ssh'], cwd: '/', home: '/home/ann' })
  const run = note.watching({ stdin: 'empty', terminal: null, onOutput: () => {} }, () => {})
  run.onHidden?.({ places: PLACES, byLaws: [], hasNetwork: true })
  expect(note.lines()).toEqual([
    '~/.ssh is hidden from runs, which find it empty; no run with a network can read it',
  ])
})
