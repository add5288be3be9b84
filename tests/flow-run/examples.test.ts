/** The examples run as their pages show them: every command, every line. */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it, vi } from 'vitest'
import { Place } from '../cli-gate/place.ts'

vi.setConfig({ testTimeout: 180_000 })

interface Shown {
  readonly command: string
  readonly lines: readonly string[]
}

/** Commands begin with `$ `; `…` stands for anything, alone in a line for any number of lines. */
function shownIn(page: string): readonly Shown[] {
  const blocks = [...page.matchAll(/```console\n([\s\S]*?)```/g)].map(([, text = '']) => text)
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const [command = '', ...lines] = part.trimEnd().split('\n')
        return { command, lines }
      }),
  )
}

function patternOf(lines: readonly string[]): RegExp {
  const parts = lines.map((line) =>
    line === '…'
      ? '(?:.*\\n)*'
      : `${line
          .split('…')
          .map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/ {2,}/g, ' +'))
          .join('.*')}\\n`,
  )
  return new RegExp(`^${parts.join('')}$`)
}

beforeAll(() => {
  execFileSync(process.execPath, ['tools/build.mjs'])
}, 300_000)

it.each(['two-agents', 'phased'])('%s', (name) => {
  const examples = join(process.cwd(), 'examples', 'flows', name)
  const place = new Place(name)
  try {
    execFileSync('rm', ['-r', join(place.project, '.git')])
    const shown = shownIn(readFileSync(join(examples, 'README.md'), 'utf8'))
    expect(shown.length).toBeGreaterThan(3)
    const program = `writ() { "${process.execPath}" "${place.program}" "$@"; }`
    for (const { command, lines } of shown) {
      const ended = spawnSync('bash', ['-c', `${program}\n${command}`], {
        cwd: place.project,
        env: { ...place.env(), EXAMPLES: examples },
        encoding: 'utf8',
        input: '',
        timeout: 120_000,
      })
      const told = `${ended.stderr}${ended.stdout}`.replace(/[ \t]+$/gm, '')
      expect(ended.status, `${command}\n${told}`).toBe(0)
      expect(told, command).toMatch(patternOf(lines))
    }
  } finally {
    place.remove()
  }
})
