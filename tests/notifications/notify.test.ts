/** People hear of questions that wait: at least once, with a record, and never of contents (N-1). */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Json, Place } from '../cli-gate/place.ts'
import { type Answer, closedPort, MailReceiver, WebReceiver } from './receivers.ts'

vi.setConfig({ testTimeout: 180_000 })

const KEY = `whsec_${Buffer.from('a key of thirty-two bytes, or so').toString('base64')}`
const CANARY = 'canary-7f3a'

let place: Place
const receivers: { close: () => void }[] = []

beforeEach(() => {
  place = new Place('notify', { runs: 'warm' }).init()
})
afterEach(() => {
  for (const one of receivers.splice(0)) one.close()
  place.remove()
})

async function web(...answers: readonly Answer[]) {
  const receiver = new WebReceiver(...answers)
  receivers.push(receiver)
  return { receiver, url: await receiver.listen() }
}

/** Names the ways in the settings, as a human who accepts them. */
function settle(ways: readonly Json[], more: Json = {}): void {
  const laws = { laws: [], settings: { notify: ways, ...more } }
  place.write('.writ/laws.yaml', JSON.stringify(laws))
  const { status, err } = place.writ(['laws', 'accept', '--yes'])
  expect(status, err).toBe(0)
}

/** A question whose command, paths and files hold a word that no message may hold. */
function ask(): Json {
  const { status, err } = place.exec([], `echo ${CANARY} > ${CANARY}.txt; echo ${CANARY}`)
  expect(status, err).toBe(75)
  return place.pending().at(-1)
}

/** Runs in a process of its own: receivers live in this one. */
async function look(...words: readonly string[]): Promise<number | null> {
  const child = place.start(['notify', 'run', '--once', ...words])
  return new Promise((resolve) => child.once('exit', resolve))
}

function tries(): Json[] {
  const { facts } = place.writ(['log', '--type', 'notification_v1', '--json']).json
  return facts.map((fact: Json) => fact.record.payload)
}

describe('a question', () => {
  it('is sent by every way once, signed, without contents, and that is a fact', async () => {
    const [hook, ntfy, slack] = [await web(200), await web(200), await web(200)]
    const mail = new MailReceiver()
    receivers.push(mail)
    settle(
      [
        { name: 'hook', kind: 'webhook', url: `${hook.url}/in`, secret: 'HOOK_KEY' },
        { name: 'phone', kind: 'ntfy', url: `${ntfy.url}/topic` },
        { name: 'team', kind: 'slack', url_secret: 'TEAM_URL' },
        {
          name: 'post',
          kind: 'email',
          server: await mail.listen(),
          from: 'w@example.org',
          to: 'ann@example.org',
        },
      ],
      { notify_link: 'https://writ.example.org/' },
    )
    place.writ(['secret', 'set', 'HOOK_KEY'], { input: KEY })
    place.writ(['secret', 'set', 'TEAM_URL'], { input: `${slack.url}/services/${CANARY}` })
    const { id, action_id } = ask()
    expect(await look()).toBe(0)
    const [sent] = hook.receiver.got
    // Judged by the library of the form.
    const headers = sent?.headers as Record<string, string>
    const event = new Webhook(KEY).verify(sent?.body ?? '', headers) as Json
    expect(event).toMatchObject({
      type: 'question.waiting',
      data: {
        action_id,
        question: id,
        risk: 'MEDIUM',
        effects: { added: 1, modified: 0, deleted: 0 },
      },
    })
    expect(event.data.link).toBe(`https://writ.example.org/questions/${id}`)
    expect(ntfy.receiver.got[0]).toMatchObject({
      path: '/topic',
      headers: { click: event.data.link },
    })
    expect(JSON.parse(slack.receiver.got[0]?.body ?? '').text).toContain('1 added')
    expect(mail.mails[0]).toMatch(/^To: ann@example.org/m)
    const all = [hook, ntfy, slack].map(({ receiver }) => JSON.stringify(receiver.got[0]?.body))
    expect(`${all.join()}${mail.mails[0]}`).not.toContain(CANARY)
    expect(tries().map(({ way, outcome }) => [way, outcome])).toEqual(
      ['hook', 'phone', 'team', 'post'].map((way) => [way, 'DELIVERED']),
    )
    expect(JSON.stringify(tries())).not.toContain(CANARY)
    // Longer than a way rests after its first try.
    await pause(10_500)
    expect(await look()).toBe(0)
    expect([hook.receiver.got.length, mail.mails.length, tries().length]).toEqual([1, 1, 4])
    expect(place.writ(['ledger', 'verify']).status).toBe(0)
  })

  it('is tried again after a failure, and is undelivered for people until it arrives', async () => {
    const { receiver, url } = await web(500, 200)
    settle([{ name: 'phone', kind: 'ntfy', url, contents: true }])
    ask()
    expect(place.writ(['inbox']).out).toContain('not sent yet by phone (ntfy)')
    expect(await look()).toBe(1)
    // Not before its time.
    expect(await look()).toBe(0)
    expect(receiver.got.length).toBe(1)
    expect(place.pending()[0].deliveries).toMatchObject([
      {
        way: 'phone',
        delivered: false,
        attempts: 1,
        reason: 'the receiver answered with status 500',
      },
    ])
    expect(place.writ(['doctor', '--json']).json.undelivered).toBe(1)
    await pause(10_000)
    expect(await look()).toBe(0)
    expect(tries().map(({ outcome, attempt }) => [outcome, attempt])).toEqual([
      ['FAILED', 1],
      ['DELIVERED', 2],
    ])
    expect(place.pending()[0].deliveries).toMatchObject([{ delivered: true }])
    expect(place.writ(['doctor', '--json']).json.undelivered).toBe(0)
    // Where the settings want contents, the command and the paths are there, and no byte of a file.
    expect(receiver.got[1]?.body).toContain(`${CANARY}.txt`)
  })

  it('reaches no other host by a redirect, and a receiver that hangs is given up', async () => {
    const other = await web(200)
    const elsewhere = await web({ redirect: `${other.url}/steal` })
    const hanging = await web('hang')
    settle([
      { name: 'moved', kind: 'webhook', url: elsewhere.url, secret: 'HOOK_KEY' },
      { name: 'slow', kind: 'slack', url: hanging.url },
      { name: 'gone', kind: 'ntfy', url: await closedPort() },
      { name: 'keyless', kind: 'webhook', url: other.url, secret: 'NO_SUCH_KEY' },
    ])
    place.writ(['secret', 'set', 'HOOK_KEY'], { input: KEY })
    ask()
    expect(await look()).toBe(1)
    expect(other.receiver.got).toEqual([])
    expect(tries().map(({ way, reason }) => [way, reason])).toEqual([
      ['moved', 'the receiver redirects (status 307), which is not followed'],
      ['slow', 'the receiver did not answer in time'],
      ['gone', 'the receiver cannot be reached (ECONNREFUSED)'],
      ['keyless', 'no key NO_SUCH_KEY is kept: `writ secret set NO_SUCH_KEY`'],
    ])
  })

  it('is not lost by a kill between sending and recording: it is sent again, with the same id', async () => {
    const { receiver, url } = await web('hang')
    settle([{ name: 'hook', kind: 'webhook', url, secret: 'HOOK_KEY' }])
    place.writ(['secret', 'set', 'HOOK_KEY'], { input: KEY })
    ask()
    const child = place.start(['notify', 'run', '--once'])
    const ended = new Promise((resolve) => child.once('exit', resolve))
    while (receiver.got.length === 0) await pause(20)
    child.kill('SIGKILL')
    await ended
    expect(tries()).toEqual([])
    receiver.answer(200)
    expect(await look()).toBe(0)
    const ids = receiver.got.map(({ headers }) => headers['webhook-id'])
    expect([ids.length, new Set(ids).size]).toEqual([2, 1])
    expect(tries()).toMatchObject([{ outcome: 'DELIVERED', attempt: 1 }])
  })

  it('that was denied is sent to no one', async () => {
    const { receiver, url } = await web(200)
    settle([{ name: 'phone', kind: 'ntfy', url }])
    const { id } = ask()
    expect(place.writ(['deny', id]).status).toBe(0)
    expect(await look()).toBe(0)
    expect(receiver.got).toEqual([])
    const answers = place.writ(['log', '--type', 'confirmation_v1', '--json']).json.facts
    expect(answers.map((fact: Json) => fact.record.payload.answer)).toEqual(['DENIED'])
  })
})

describe('writ notify test', () => {
  it('sends by the ways that are named, and says what failed', async () => {
    const { receiver, url } = await web(200)
    settle([
      { name: 'phone', kind: 'ntfy', url },
      { name: 'gone', kind: 'slack', url: await closedPort() },
    ])
    const child = place.start(['notify', 'test', '--json'])
    let out = ''
    child.stdout?.on('data', (chunk) => {
      out += chunk
    })
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(1)
    expect(JSON.parse(out).tried).toMatchObject([{ way: 'phone', reason: null }, { way: 'gone' }])
    expect(receiver.got[0]?.body).toContain('works')
    expect(tries()).toEqual([])
  })

  it('refuses settings that are incomplete, with the place', () => {
    place.write(
      '.writ/laws.yaml',
      'laws: []\nsettings:\n  notify:\n    - {name: a, kind: webhook, to: x@y}\n',
    )
    const { status, out, err } = place.writ([
      'laws',
      'check',
      join(place.project, '.writ/laws.yaml'),
    ])
    expect(status).toBe(1)
    expect(`${out}${err}`).toMatch(/laws\.notify/)
    expect(readFileSync(join(place.project, '.writ/laws.yaml'), 'utf8')).toContain('webhook')
  })
})
