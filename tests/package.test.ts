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

/** The relative links of a page, without their anchors. */
function linksOf(page: string): readonly string[] {
  const prose = readFileSync(page, 'utf8').replace(/^```[\s\S]*?^```$/gm, '')
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  return targets
    .filter((target) => !/^[a-z]+:|^#/.test(target))
    .map((one) => one.split('#')[0] ?? '')
}

function isPacked(target: string): boolean {
  return paths.has(target) || [...paths].some((path) => path.startsWith(`${target}/`))
}

describe('the package', () => {
  it('resolves every relative link of its pages', () => {
    const pages = [...paths].filter((path) => path.endsWith('.md'))
    expect(pages).toContain('README.md')
    expect(pages).toContain('docs/gate.md')
    const links = pages.flatMap((page) => linksOf(page).map((link) => ({ page, link })))
    expect(links.length).toBeGreaterThan(40)
    const target = (page: string, link: string): string => normalize(join(dirname(page), link))
    const broken = links.filter(({ page, link }) => !isPacked(target(page, link)))
    expect(broken).toEqual([])
  })

  it('holds the program, the specification and the examples, and no test', () => {
    for (const path of [
      'bin/writ.cjs',
      'dist/cli/program.cjs',
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
