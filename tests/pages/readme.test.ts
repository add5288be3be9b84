/** README: the commands that a new user can type work in order, in both languages. */
import { spawnSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { Place } from '../cli-gate/place.ts'

const places: Place[] = []
afterAll(() => {
  for (const place of places) place.remove()
})

/** Returns what a page shows after `$ `, without blocks that need the reader's own files or acts. */
function commandsOf(page: string): readonly string[] {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/```console\n([\s\S]*?)```/g)]
  return blocks
    .map(([, text = '']) => text)
    .filter((text) => !/clean-up\.sh|ACTION_ID|plan\.json/.test(text))
    .flatMap((text) => [...text.matchAll(/^\$ npx (writ .+)$/gm)].map(([, words = '']) => words))
}

it.each(['README.md', 'README.zh-CN.md'])(
  '%s',
  (page) => {
    const place = new Place(`readme-${places.length}`)
    places.push(place)
    symlinkSync(join(process.cwd(), 'examples'), join(place.project, 'examples'))
    // The first block of the page makes a home here, and needs a script of the reader.
    const commands = ['writ init --no-pass', ...commandsOf(page)]
    expect(commands.length).toBeGreaterThanOrEqual(8)
    const program = `writ() { "${process.execPath}" "${place.program}" "$@"; }`
    const ended = commands.map((command) => {
      const options = { cwd: place.project, env: place.env(), encoding: 'utf8' as const, input: '' }
      const { status, stdout, stderr } = spawnSync(
        'bash',
        ['-c', `${program}\n${command}`],
        options,
      )
      // 1 is a no: a document that was changed on purpose, a claim that does not hold, a difference.
      expect([0, 1], `${command}\n${stdout}${stderr}`).toContain(status)
      return { command, status }
    })
    const refused = ended.filter(({ status }) => status === 1).map(({ command }) => command)
    expect(refused.map((command) => command.split(' ').slice(0, 3).join(' '))).toEqual([
      'writ rules prove',
      'writ rules diff',
      'writ check examples/documents/changed-task.json',
    ])
  },
  120_000,
)
