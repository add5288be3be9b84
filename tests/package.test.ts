/** What `npm pack` would publish: everything that its own pages link to, and nothing of the tests. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'

interface Packed {
  readonly files: readonly { readonly path: string }[]
}

let paths: ReadonlySet<string> = new Set()

beforeAll(() => {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts']
  const text = execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  // The form of npm's answer; an empty one makes every test below fail.
  const [packed] = JSON.parse(text) as readonly Packed[]
  paths = new Set(packed?.files.map(({ path }) => path))
}, 120_000)

function proseOf(page: string): string {
  return readFileSync(page, 'utf8').replace(/^```[\s\S]*?^```$/gm, '')
}

interface Link {
  readonly page: string
  /** The path of the target in the package. */
  readonly target: string
  readonly anchor: string | undefined
}

/** Returns the links of a page that stay inside the package. */
function linksOf(page: string): readonly Link[] {
  const targets = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((text) => {
      const [path = '', anchor] = text.split('#')
      const target = path === '' ? page : normalize(join(dirname(page), path))
      return { page, target, anchor }
    })
}

/** Returns the anchors that GitHub makes of a page's headings, and those that it sets itself. */
function anchorsOf(page: string): ReadonlySet<string> {
  const prose = proseOf(page)
  const own = [...prose.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)
  const headings = [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => slugOf(heading))
  return new Set([...own, ...headings])
}

function slugOf(heading: string): string {
  const kept = heading.toLowerCase().replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
  return kept.replaceAll(' ', '-')
}

function isPacked(target: string): boolean {
  return paths.has(target) || [...paths].some((path) => path.startsWith(`${target}/`))
}

describe('the package', () => {
  it('resolves every relative link of its pages', () => {
    const pages = [...paths].filter((path) => path.endsWith('.md'))
    expect(pages).toContain('README.md')
    expect(pages).toContain('docs/gate.md')
    const links = pages.flatMap(linksOf)
    expect(links.length).toBeGreaterThan(40)
    expect(links.filter(({ target }) => !isPacked(target))).toEqual([])
    const anchored = links.filter(({ target, anchor }) => anchor !== undefined && paths.has(target))
    expect(anchored.length).toBeGreaterThan(100)
    const lost = anchored.filter(({ target, anchor = '' }) => !anchorsOf(target).has(anchor))
    expect(lost).toEqual([])
  })

  it('holds the program, the specification and the examples, and no test', () => {
    for (const path of [
      'bin/writ.cjs',
      'dist/cli/program.cjs',
      'dist/cli/exec.cjs',
      'dist/cli/run.cjs',
      'dist/cli/hook.cjs',
      'bin/held/npm',
      'bin/held/hold.cjs',
      'dist/types/index.d.ts',
      'LICENSE',
    ]) {
      expect(paths).toContain(path)
    }
    expect(isPacked('examples/flows')).toBe(true)
    expect(isPacked('spec/vectors')).toBe(true)
    expect([...paths].filter((path) => /^(?:src|tests|bench|tools)\//.test(path))).toEqual([])
  })

  it('says where it comes from', () => {
    const text = readFileSync('package.json', 'utf8')
    expect(JSON.parse(text)).toMatchObject({
      author: expect.any(String),
      repository: { type: 'git', url: expect.stringMatching(/^git\+https:/) },
      bugs: { url: expect.stringMatching(/^https:/) },
    })
  })
})
