/**
 * Pages that show commands and what they print, run unchanged. In a `console` block a command begins
 * with `$ `, a last line such as `[75]` is its status, and `…` matches any text; alone in a line it
 * matches any number of lines.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Place } from './cli-gate/place.ts'

interface Shown {
  readonly command: string
  readonly lines: readonly string[]
  readonly status: number
}

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

/** The files that a page shows: blocks whose first line is such as ```yaml file=rules/a.yaml. */
export function filesIn(page: string): readonly { readonly name: string; readonly text: string }[] {
  const blocks = page.matchAll(/```\w+ file=(\S+)\n([\s\S]*?)```/g)
  return [...blocks].map(([, name = '', text = '']) => ({ name, text }))
}

/** Runs every command of `examples/<name>/README.md` in the project of the place, in order. */
export function walkPage(
  place: Place,
  name: string,
  through: readonly string[] = [],
  examples = join(process.cwd(), 'examples', name),
): readonly Shown[] {
  const page = readFileSync(join(examples, 'README.md'), 'utf8')
  return walkShown(place, page, through, examples)
}

/** The examples of flows as the package holds them: what is not packed is not there. */
export function packedExamples({ folder }: Pick<Place, 'folder'>): string {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts']
  const text = execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  // The form of npm's answer; an empty one leaves no example.
  const [packed] = JSON.parse(text) as readonly { files: readonly { path: string }[] }[]
  const root = join(folder, 'package')
  for (const { path } of packed?.files ?? [])
    if (path.startsWith('examples/')) cpSync(path, join(root, path))
  return join(root, 'examples', 'flows')
}

/** Runs every command that a page shows; `through` are words before the shell, such as a change of user. */
export function walkShown(
  place: Place,
  page: string,
  through: readonly string[] = [],
  examples = '',
  timeoutMs = 120_000,
): readonly Shown[] {
  const shown = shownIn(page)
  const program = `writ() { "${process.execPath}" "${place.program}" "$@"; }`
  for (const { command, lines, status } of shown) {
    const [shell = 'bash', ...words] = [...through, 'bash', '-c']
    const ended = spawnSync(shell, [...words, `${program}\n{ ${command}\n} 2>&1`], {
      cwd: place.project,
      env: { ...place.env(), EXAMPLES: examples },
      encoding: 'utf8',
      input: '',
      timeout: timeoutMs,
    })
    const told = ended.stdout.replace(/[ \t]+$/gm, '')
    expect(ended.status, `${command}\n${told}`).toBe(status)
    expect(told, command).toMatch(patternOf(lines))
  }
  return shown
}
