/**
 * Each coding agent for real: its hooks call the program of writ, reports reach the channel, feedback
 * reaches the model, and removing the hooks restores every byte. With WRIT_RECORD=1 the inputs of the
 * hooks become vectors.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type HookPlaces,
  install,
  planInstall,
  planUninstall,
  uninstall,
} from '../../src/hooks/index.ts'
import type { ToolReport } from '../../src/hosts/index.ts'
import { ensureBuilt } from '../built.ts'
import { AGENT_NAMES } from './programs.ts'
import { AgentPlace } from './turn.ts'

const LINE = 'writ: promoted 1 file in act 4711'
const WANTED = (process.env['WRIT_AGENTS'] ?? '').split(',').filter((name) => name !== '')

interface Channel {
  readonly url: string
  readonly reports: ToolReport[]
  readonly server: Server
}

function openChannel(): Promise<Channel> {
  const reports: ToolReport[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
    request.on('end', () => {
      const report = JSON.parse(text) as ToolReport
      if (request.url === '/token/report') reports.push(report)
      response.end(JSON.stringify({ feedback: report.boundary === 'after' ? LINE : null }))
    })
  })
  return new Promise((resolved) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      resolved({ url: `http://127.0.0.1:${port}/token`, reports, server })
    })
  })
}

/** Every file below a directory, with its bytes. */
function contents(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.includes('node_modules') && statSync(join(folder, name)).isFile())
    .sort()
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name), 'latin1')]))
}

beforeAll(ensureBuilt, 120_000)

describe.each(AGENT_NAMES.filter((name) => WANTED.length === 0 || WANTED.includes(name)))(
  '%s',
  (name) => {
    let agent: AgentPlace
    let channel: Channel
    let places: HookPlaces

    beforeAll(async () => {
      agent = await AgentPlace.make(name, (trial, project) => [
        trial.shell('echo hi > out.txt'),
        trial.write(join(project, 'new.txt'), 'hello'),
        { text: 'done' },
      ])
      channel = await openChannel()
      const { home, project } = agent.place
      const record = join(agent.folder, 'writ')
      const script = [
        '#!/bin/sh',
        `f=${agent.folder}/in.$$`,
        'echo "$@" > $f.words; cat > $f.json',
        `exec ${process.execPath} ${resolve('bin/writ.cjs')} "$@" < $f.json`,
        '',
      ].join('\n')
      writeFileSync(record, script, { mode: 0o755 })
      const state = join(agent.folder, 'state')
      const bin = resolve('bin')
      const shell = join(bin, 'writ-shell.cjs')
      places = {
        home,
        project,
        state,
        writ: record,
        shell,
        plugins: join(bin, 'plugins'),
        seconds: 60,
      }
    }, 60_000)

    afterAll(async () => {
      channel?.server.close()
      await agent?.remove()
    })

    it('has hooks that come and go without a trace', async () => {
      for (const level of agent.host.hooks.levels.filter((one) => one !== 'managed')) {
        for (const mode of agent.host.hooks.modes) {
          const before = contents(agent.folder)
          const plan = await planInstall(agent.host, level, mode, places)
          install(plan, places)
          expect(contents(agent.folder)).not.toEqual(before)
          expect((await planInstall(agent.host, level, mode, places)).changes).toEqual([])
          uninstall(await planUninstall(agent.host, level, places), places)
          expect(contents(agent.folder)).toEqual(before)
        }
      }
    })

    it('reports each tool to the channel and takes its line', async () => {
      const { host, place, model } = agent
      install(await planInstall(host, 'user', 'session', places), places)
      const end = await agent.run(agent.trial.open, { WRIT_SESSION_CHANNEL: channel.url })
      expect(end, end.stderr.slice(-2_000)).toMatchObject({ status: 0, isTimedOut: false })
      expect(readFileSync(join(place.project, 'out.txt'), 'utf8')).toBe('hi\n')
      expect(readFileSync(join(place.project, 'new.txt'), 'utf8').trim()).toBe('hello')
      const told = channel.reports.map(({ boundary, kind }) => `${boundary} ${kind}`)
      for (const one of ['before shell', 'after shell', 'before edit', 'after edit']) {
        expect(told).toContain(one)
      }
      const shell = channel.reports.find(({ kind }) => kind === 'shell')
      expect(shell).toMatchObject({ host: name, command: 'echo hi > out.txt', cwd: place.project })
      expect(shell?.session).toBeTruthy()
      const edit = channel.reports.find(({ kind }) => kind === 'edit')
      expect(edit?.paths).toEqual([join(place.project, 'new.txt')])
      const sent = JSON.stringify(model.requests.map(({ body }) => body))
      expect(sent).toContain(LINE)
      if (process.env['WRIT_RECORD'] === '1') writeVectors(agent)
      uninstall(await planUninstall(host, 'user', places), places)
    }, 180_000)
  },
)

/** Paths of this machine become `/home` and `/project`. */
function writeVectors({ folder, host }: AgentPlace): void {
  const names = readdirSync(folder).filter((one) => /^in\.\d+\.json$/.test(one))
  const at = (one: string): number => statSync(join(folder, one)).mtimeMs
  const cases = names
    .sort((one, other) => at(one) - at(other))
    .map((one) => {
      const text = readFileSync(join(folder, one), 'utf8')
      const input: unknown = JSON.parse(text.replaceAll(`${folder}/`, '/'))
      const words = readFileSync(join(folder, one.replace('.json', '.words')), 'utf8')
        .trim()
        .split(' ')
      const event = words[3] ?? null
      return { event, input, report: host.hooks.read(input, event) }
    })
  const file = resolve('spec/vectors/hosts', `${host.name}.json`)
  const { answers } = JSON.parse(readFileSync(file, 'utf8'))
  const vectors = { host: host.name, version: host.tested[0], cases, answers }
  writeFileSync(file, `${JSON.stringify(vectors, null, 2)}\n`)
}
