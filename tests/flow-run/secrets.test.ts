/** A program that writes its secret into a file: the stage is refused, and nothing of it is kept. */

import { Buffer } from 'node:buffer'
import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import {
  artifact,
  checker,
  edge,
  enteredIn,
  flowOf,
  goal,
  review,
  worker,
} from './acceptance/scene.ts'
import { findingsIn, type RunPlace } from './place.ts'
import { placeEach } from './place-each.ts'
import { script, TOOL } from './scripts.ts'

const KEY = 'sk-live-0123/456+789-abcdef'
const TIMEOUT = { timeout: 60_000 }

let place: RunPlace

placeEach('secrets', (made) => {
  place = made
})

function run(body: string) {
  place.write('a.mjs', script(`${TOOL}const key = process.env.KEY\nmkdirSync('out')\n${body}`))
  place.write('c.mjs', script(review('95')))
  const executor = { command: ['node', 'a.mjs'], secrets: ['KEY'] }
  const flow = flowOf(
    [worker('a', { executor, max_attempts: 1 }), checker('c', 'a'), goal('b', 'P2')],
    [edge('a', 'c'), edge('c', 'b', { class: 'Gate' })],
  )
  return place.run(flow, { environment: { ...process.env, KEY } })
}

/** Files below the place, the ledger and its bodies among them, that hold any of these spellings. */
function kept(): readonly string[] {
  const spellings = [KEY, Buffer.from(KEY).toString('hex'), Buffer.from(KEY).toString('base64')]
  const found = spellings.map((text) =>
    execFileSync('sh', ['-c', 'grep -rlaF -e "$1" "$2" || true', 'sh', text, place.folder]),
  )
  return found.map(String).filter((text) => text !== '')
}

describe('a file that holds the secret', TIMEOUT, () => {
  it.each([
    ['as it is', `writeFileSync('out/x', 'key=' + key)`, 'out/x'],
    ['as base64 inside more', `writeFileSync('out/x', btoa('Bearer ' + key + ' ok'))`, 'out/x'],
    [
      'as base64 in short lines',
      `writeFileSync('out/x', btoa('k' + key).replace(/.{7}/g, '$&\\n'))`,
      'out/x',
    ],
    [
      'as base64 for addresses',
      `writeFileSync('out/x', Buffer.from('ab' + key).toString('base64url'))`,
      'out/x',
    ],
    ['as hex', `writeFileSync('out/x', Buffer.from(key).toString('hex').toUpperCase())`, 'out/x'],
    ['percent-encoded', `writeFileSync('out/x', encodeURIComponent(key))`, 'out/x'],
    ['far inside', `writeFileSync('out/x', ' '.repeat(1048570) + key)`, 'out/x'],
    [
      'in its name',
      `writeFileSync('out/' + Buffer.from(key).toString('hex'), '')`,
      'out/[secret KEY]',
    ],
  ])('%s blocks the node and names the file', async (_, body, path) => {
    const ended = await run(`${body}\n${artifact("'done'")}`)
    expect([ended.status, findingsIn(ended)]).toEqual(['BLOCKED', ['flow.secret_written block']])
    const finding = ended.facts.find(({ type }) => type === 'flow_finding_v1')?.payload
    expect(finding).toMatchObject({ node_id: 'a', values: { path } })
    expect(enteredIn(ended.facts)).toEqual(['a'])
    expect(kept()).toEqual([])
  })

  it('also through an operation, and in an artifact', async () => {
    const ended = await run(
      `ask({ type: 'FILE_WRITE', path: process.cwd() + '/out/x', content: Buffer.from(key).toString('base64') })
${artifact("'I know ' + Buffer.from(key).toString('hex')")}`,
    )
    expect(ended.status).toBe('DONE')
    expect(place.read('out/x')).toBe('[secret KEY]')
    expect(place.read('artifacts/a/1/out.md')).toBe('I know [secret KEY]')
    expect(kept()).toEqual([])
  })
})
