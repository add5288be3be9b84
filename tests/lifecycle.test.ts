/** The lifecycle stays one: steps are called by `lifecycle.ts`, and nothing else changes the tree. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'

const STEPS = [
  'admit',
  'rehearse',
  'compare',
  'decide',
  'stage',
  'record',
  'ask',
  'confirm',
  'promote',
]
const LIFECYCLE = 'src/service/lifecycle/lifecycle.ts'
/** What a participant of a flow does is admitted while its attempt goes on. */
const ALSO = ['src/service/attempts/attempt.ts: admit']

const IMPORT = /import (?:type )?\{([^}]*)\} from '([^']+)'/g

/** Returns the steps that a text imports from their own files. */
function stepsIn(text: string): readonly string[] {
  return [...text.matchAll(IMPORT)].flatMap(([, names = '', from = '']) => {
    const step = basename(from, '.ts')
    const imported = names.split(',').map((name) => name.trim())
    return STEPS.includes(step) && imported.includes(step) ? [step] : []
  })
}

describe('the lifecycle', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => ({ path: `src/${name}`, text: readFileSync(`src/${name}`, 'utf8') }))

  it('is found', () => {
    expect(sources.length).toBeGreaterThan(300)
    const own = sources.find(({ path }) => path === LIFECYCLE)
    expect([...stepsIn(own?.text ?? '')].sort()).toEqual([...STEPS].sort())
  })

  it('is the only caller of its steps', () => {
    const others = sources
      .filter(({ path }) => path.startsWith('src/service/') && path !== LIFECYCLE)
      .flatMap(({ path, text }) => stepsIn(text).map((step) => `${path}: ${step}`))
    expect(others).toEqual(ALSO)
  })

  it('has the only function that is called promote', () => {
    const named = sources.filter(({ text }) => /function promote\(/.test(text))
    expect(named.map(({ path }) => path)).toEqual(['src/service/lifecycle/promote.ts'])
  })
})
