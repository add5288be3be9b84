/** The walk through examples/laws runs as its page shows it: every command, every line. */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { Place } from '../cli-gate/place.ts'

vi.setConfig({ testTimeout: 120_000 })

const PAGE = readFileSync('examples/laws/README.md', 'utf8')

interface Shown {
  readonly command: string
  readonly lines: readonly string[]
  readonly status: number
}

/** Commands begin with `$ `; a line such as `[75]` is the status; `…` stands for anything. */
function shownIn(page: string): readonly Shown[] {
  const blocks = [...page.matchAll(/```console\n([\s\S]*?)```/g)].map(([, text = '']) => text)
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const [command = '', ...lines] = part.trimEnd().split('\n')
        const status = /^\[(\d+)\]$/.exec(lines.at(-1) ?? '')
        return {
          command,
          lines: status === null ? lines : lines.slice(0, -1),
          status: Number(status?.[1] ?? 0),
        }
      }),
  )
}

/** A line with `…` matches anything there; a line that is only `…` any number of lines. */
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

let place: Place

beforeAll(() => {
  execFileSync(process.execPath, ['tools/build.mjs'])
  place = new Place('example')
  execFileSync('rm', ['-r', join(place.project, '.git')])
}, 180_000)

afterAll(() => place?.remove())

it('runs as shown', () => {
  const shown = shownIn(PAGE)
  expect(shown.length).toBeGreaterThan(10)
  const program = `writ() { "${process.execPath}" "${place.program}" "$@"; }`
  for (const { command, lines, status } of shown) {
    const ended = spawnSync('bash', ['-c', `${program}\n${command}`], {
      cwd: place.project,
      env: { ...place.env(), EXAMPLES: join(process.cwd(), 'examples', 'laws') },
      encoding: 'utf8',
      input: '',
      timeout: 60_000,
    })
    const told = `${ended.stdout}${ended.stderr}`.replace(/[ \t]+$/gm, '')
    expect(ended.status, `${command}\n${told}`).toBe(status)
    expect(told, command).toMatch(patternOf(lines))
  }
})
