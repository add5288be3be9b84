/**
 * A home whose state lies on a small disk of its own, through the built program: works, fills the disk,
 * asks everything, makes room, works again. Prints what every command answered as one JSON text.
 */
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [folder, program] = process.argv.slice(2)
const project = join(folder, 'project')
const state = join(folder, 'state')
const ballast = join(state, 'ballast')
const answers = {}
mkdirSync(project)
writeFileSync(join(project, 'a.txt'), 'none\n')

function writ(name, ...words) {
  const { PATH } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
    cwd: project,
    encoding: 'utf8',
    input: '',
    env: { PATH, HOME: folder, XDG_STATE_HOME: state, LANG: 'C.UTF-8' },
  })
  const text = readFileSync(join(project, 'a.txt'), 'utf8')
  answers[name] = { status, out: stdout, err: stderr, text }
}

const append = (word) => ['exec', '--write', 'a.txt', '--', 'sh', '-c', `echo ${word} >> a.txt`]

/** In ever smaller pieces, so that nothing is left. */
function fill() {
  for (let bytes = 1 << 20; bytes > 0; bytes >>= 1) {
    try {
      for (;;) appendFileSync(ballast, Buffer.alloc(bytes))
    } catch (error) {
      if (error.code !== 'ENOSPC') throw error
    }
  }
}

writ('init', 'init', '--no-pass')
writ('first', ...append('one'))
fill()
writ('fullExec', ...append('two'))
writ('fullUndo', 'undo')
writ('fullRotate', 'ledger', 'rotate')
writ('fullLog', 'log', '--json')
writ('fullTasks', 'task', 'list')
writ('fullVerify', 'ledger', 'verify', '--json')
rmSync(ballast)
writ('freedVerify', 'ledger', 'verify', '--json')
writ('freedExec', ...append('three'))
writ('freedUndo', 'undo')
writ('lastUndo', 'undo')
writ('lastVerify', 'ledger', 'verify', '--json')
process.stdout.write(JSON.stringify(answers))
