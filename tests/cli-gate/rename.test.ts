/**
 * Renamed directories from end to end: promoted and taken back byte for byte, with times, modes and
 * links, by root and by an ordinary user.
 */
import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { treeHash } from '../tree/tree-hash.ts'
import { asUser, ORDINARY_UID, TEST_USERS } from '../tree/users.ts'
import { Place } from './place.ts'

vi.setConfig({ testTimeout: 300_000 })

const WORDS = 'correct horse battery staple'
/** `npm run soak large` renames as many in every way. */
const MANY = 1_000
const FEW = process.env['WRIT_SIZES'] === 'whole' ? MANY : 100
const NODE = process.execPath

/** Each is done, promoted and taken back; the paths are those that must be there in between. */
const RENAMES: readonly (readonly [script: string, there: string])[] = [
  ['git mv big renamed', 'renamed/d9'],
  [`${NODE} -e "fs.renameSync('big', 'src/big'); fs.renameSync('src', 'lib')"`, 'lib/big/d9'],
  [`python3 -c "import os; os.mkdir('e'); os.rename('big', 'e')"`, 'e/d9'],
  ['mv big/d9 nine && mv big ten && mv nine ten/eleven', 'ten/eleven'],
]

function fill(project: string, files: number): void {
  for (let index = 0; index < files; index++) {
    const folder = join(project, 'big', `d${index % 10}`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `f${index}`), `${index}\n`, {
      mode: index % 2 === 0 ? 0o755 : 0o640,
    })
  }
  linkSync(join(project, 'big', 'd0', 'f0'), join(project, 'big', 'd1', 'linked'))
  mkdirSync(join(project, 'src'))
  writeFileSync(join(project, 'src', 'a'), 'a\n')
  const commit = 'git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm a'
  execFileSync('sh', ['-c', commit], { cwd: project })
  const old = ['big', 'src', '-depth', '-exec', 'touch', '-h', '-d', '@1000000000.5', '{}', '+']
  execFileSync('find', old, { cwd: project })
}

const CASES = [
  ...TEST_USERS.map((user) => [user, 'every', FEW, RENAMES] as const),
  ...TEST_USERS.slice(-1).map((user) => [user, 'one', MANY, RENAMES.slice(-1)] as const),
]

describe.each(CASES)('as %s', (user, ways, files, renames) => {
  it(`directories of ${files} files, renamed in ${ways} way, are promoted and taken back`, () => {
    const place = new Place('rename')
    const through = asUser(user)
    try {
      execFileSync('rm', ['-r', join(place.project, '.git')])
      fill(place.project, files)
      if (user === 'ordinary') {
        place.copyProgram()
        execFileSync('chown', ['-R', `${ORDINARY_UID}:${ORDINARY_UID}`, place.folder])
      }
      const secret = { through, passphrase: WORDS, seconds: 120, isWarm: true }
      const init = place.writ(['init', '--name', 'ann', '--pass-fd', '3'], secret)
      expect(init.status, init.err).toBe(0)
      const hash = (): string => treeHash(place.project, { without: ['.writ'] })
      const before = hash()
      for (const [script, parent] of renames) {
        const there = `${parent}/f${files - 1}`
        const ran = place.exec([], script, { through, seconds: 120 })
        expect(ran.status, `${script}\n${ran.err.slice(0, 2000)}`).toBe(75)
        const [{ id }] = place.writ(['inbox', '--json'], { through, isWarm: true }).json.pending
        const approved = place.writ(['approve', id, '--pass-fd', '3'], secret)
        expect(approved.status, approved.err.slice(0, 2000)).toBe(0)
        expect([place.has(there), place.has('big')], script).toEqual([true, false])
        const undone = place.writ(['undo', '--json'], secret)
        expect(undone.json, undone.err.slice(0, 2000)).toMatchObject({ verified: true })
        expect(hash(), script).toBe(before)
      }
    } finally {
      place.remove()
    }
  })
})
