/**
 * What a session adds to the start of each coding agent is accepted, and enough: with it alone every
 * tool runs without a prompt, through the redirected endpoint, with a placeholder for the key.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { KEY_PLACEHOLDER, recogniseHost, sessionStart } from '../../src/hosts/index.ts'
import { AGENT_NAMES, programOf } from './programs.ts'
import { AgentPlace } from './turn.ts'

const WANTED = (process.env['WRIT_AGENTS'] ?? '').split(',').filter((name) => name !== '')

describe.each(AGENT_NAMES.filter((name) => WANTED.length === 0 || WANTED.includes(name)))(
  '%s',
  (name) => {
    let agent: AgentPlace

    beforeAll(async () => {
      agent = await AgentPlace.make(name, (trial, project) => [
        trial.shell('echo hi > out.txt'),
        trial.write(join(project, 'new.txt'), 'hello'),
        { text: 'done' },
      ])
    }, 60_000)

    afterAll(async () => {
      await agent?.remove()
    })

    it('runs with what a session adds', async () => {
      const { host, model, place } = agent
      const program = programOf(name)
      const found = recogniseHost(program)
      expect(found?.host.name).toBe(name)
      if (found === null) return
      const started = sessionStart(program, found, {})
      const redirected = host.endpoints.map(({ redirect }) => redirect(model.url))
      const keys = host.endpoints.map(({ key }) => [key.variables[0] ?? '', KEY_PLACEHOLDER])
      const words = [
        ...started.argv.slice(program.length),
        ...redirected.flatMap((one) => one.arguments),
      ]
      const end = await agent.runWith(words, {
        ...started.variables,
        ...Object.assign({}, ...redirected.map(({ variables }) => variables)),
        ...Object.fromEntries(keys),
      })
      expect(end, end.stderr.slice(-2_000)).toMatchObject({ status: 0, isTimedOut: false })
      expect(existsSync(join(place.project, 'out.txt'))).toBe(true)
      expect(existsSync(join(place.project, 'new.txt'))).toBe(true)
      const posted = model.requests.filter(({ method }) => method === 'POST')
      expect(posted.length).toBeGreaterThan(2)
      for (const { method, path, headers } of posted) {
        const listed = host.endpoints.find(({ calls }) =>
          calls.some((one) => one.method === method && fits(one.path, path)),
        )
        expect(listed, path).toBeDefined()
        const { header = '', prefix = '' } = listed?.key ?? {}
        expect(headers[header], path).toBe(`${prefix}${KEY_PLACEHOLDER}`)
      }
    }, 180_000)
  },
)

function fits(pattern: string, path: string): boolean {
  const source = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${source.join('[^/]+')}$`).test(path)
}
