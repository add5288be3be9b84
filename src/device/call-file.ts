/**
 * Carries tasks out by calls to another system, such as Home Assistant (D-2): a file lists steps, each a
 * request over HTTP, a message over MQTT, or a rest. `{{parameters.NAME}}`, `{{task.POINTER}}`,
 * `{{command_id}}` and `{{env.NAME}}` stand for values; a text that is one such place keeps the type.
 *
 * INVARIANT (honest): only a first step that was refused before it did anything, or whose request surely
 *   was not sent, is `not_executed`. A step that got no answer, one that failed after another had worked,
 *   and a state that does not come are unknown.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import * as Type from 'typebox'
import { Compile } from 'typebox/compile'
import { FaultError, faultError, readPointer, showName } from '../base/index.ts'
import { BrokerLink } from '../broker/index.ts'
import { type ActTask, field, isObject } from '../contracts/index.ts'
import type { CarryOut, ExecutionOutcome } from './carry-out.ts'

const closed = { additionalProperties: false } as const
const Value = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])

const Http = Type.Object(
  {
    method: Type.Optional(Type.Enum(['GET', 'POST', 'PUT'])),
    url: Type.String({ pattern: '^https?://' }),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    body: Type.Optional(Type.Unknown()),
  },
  closed,
)

const Step = Type.Object(
  {
    http: Type.Optional(Http),
    mqtt: Type.Optional(Type.Object({ topic: Type.String(), payload: Type.Unknown() }, closed)),
    wait_s: Type.Optional(Type.Union([Type.Number({ minimum: 0 }), Type.String()])),
    /** What has to be so within a time: a value of an HTTP answer, or a message of a topic. */
    expect: Type.Optional(
      Type.Object(
        {
          http: Type.Optional(Http),
          pointer: Type.Optional(Type.String()),
          topic: Type.Optional(Type.String()),
          equals: Value,
          within_s: Type.Number({ minimum: 0 }),
        },
        closed,
      ),
    ),
  },
  closed,
)

const CallFile = Type.Object(
  {
    broker: Type.Optional(
      Type.Object(
        {
          url: Type.String({ pattern: '^mqtts://' }),
          user: Type.String(),
          password: Type.String(),
          ca: Type.Optional(Type.String()),
        },
        closed,
      ),
    ),
    steps: Type.Array(Step, { minItems: 1 }),
  },
  closed,
)

type CallFile = Type.Static<typeof CallFile>
type Step = Type.Static<typeof Step>
type Http = Type.Static<typeof Http>

const REQUEST_MS = 10_000
const LOOK_MS = 500

/** Reads the file; its steps are carried out for each task. Fails if it names a variable that is not set. */
export function calls(file: string, env: Readonly<Record<string, string | undefined>>): CarryOut {
  const plan = readPlan(file)
  refuseUnset(file, plan, env)
  return async (task) => {
    let broker: Messages | null = null
    try {
      const whole = filled(plan, task, env)
      if (whole.broker !== undefined) broker = await Messages.open(whole.broker, whole.steps)
      return await walk(whole.steps, broker, task)
    } catch (error) {
      if (!(error instanceof Refused) && !(error instanceof FaultError)) throw error
      // The task lacks a value, or its broker is away: no step has begun.
      return execution('not_executed', task, [error.message])
    } finally {
      await broker?.close()
    }
  }
}

/** A device that cannot make its calls takes no task. */
function refuseUnset(
  file: string,
  plan: CallFile,
  env: Readonly<Record<string, string | undefined>>,
): void {
  const places = JSON.stringify(plan).matchAll(/\{\{\s*env\.([^{}]+?)\s*\}\}/g)
  const names = new Set([...places].map(([, name = '']) => name))
  const unset = [...names].filter((name) => env[name] === undefined)
  if (unset.length === 0) return
  const [words, are] = unset.length === 1 ? ['a variable', 'is'] : ['variables', 'are']
  const message = `${showName(file)} names ${words} that ${are} not set: ${unset.map(showName).join(', ')}`
  throw faultError('cli.usage', file, message, `${unset[0]}=… writ device run … --calls ${file}`)
}

function readPlan(file: string): CallFile {
  try {
    const plan: unknown = JSON.parse(readFileSync(file, 'utf8'))
    const check = Compile(CallFile)
    if (check.Check(plan)) return plan
    const [first] = check.Errors(plan)
    throw new Error(`${first?.instancePath ?? ''} ${first?.message ?? ''}`)
  } catch (error) {
    // What is thrown here is an error.
    const message = `${showName(file)} is no file of calls: ${(error as Error).message}`
    throw faultError('cli.usage', file, message, 'docs/field.md shows one')
  }
}

/** A failure that surely had no effect. */
class Refused extends Error {}

async function walk(
  steps: readonly Step[],
  broker: Messages | null,
  task: ActTask,
): Promise<ExecutionOutcome> {
  for (const [index, step] of steps.entries()) {
    try {
      await take(step, broker)
    } catch (error) {
      // What is thrown here is an error.
      const reason = `step ${index + 1}: ${(error as Error).message}`
      if (!(error instanceof Refused) || index > 0) return { status: 'unknown', reason }
      return execution('not_executed', task, [reason])
    }
  }
  return execution('executed', task, [])
}

function execution(
  status: 'executed' | 'not_executed',
  { act_task_id, parameters }: ActTask,
  violations: readonly string[],
): ExecutionOutcome {
  const logs = [{ kind: 'calls', ref: `call:${act_task_id}` }]
  const observed = status === 'executed' ? { ...parameters } : {}
  return { status, observed, usage: {}, logs, violations }
}

async function take({ http, mqtt, wait_s, expect }: Step, broker: Messages | null): Promise<void> {
  if (wait_s !== undefined) await pause(Number(wait_s) * 1_000)
  if (http !== undefined) {
    const { status } = await request(http)
    if (status >= 400 && status < 500) throw new Refused(`the answer has the status ${status}`)
    if (status < 200 || status >= 300) throw new Error(`the answer has the status ${status}`)
  }
  if (mqtt !== undefined) await publish(broker, mqtt, http !== undefined)
  if (expect === undefined) return
  const untilMs = Date.now() + expect.within_s * 1_000
  for (;;) {
    const found =
      expect.http === undefined
        ? broker?.last(expect.topic ?? '')
        : readPointer((await look(expect.http)).value, expect.pointer ?? '')
    if (found === expect.equals || String(found) === String(expect.equals)) return
    if (Date.now() >= untilMs)
      throw new Error(`it is ${JSON.stringify(found)} and not ${JSON.stringify(expect.equals)}`)
    await pause(LOOK_MS)
  }
}

/** Nothing was published by a broker that is away; a request of the same step may have worked before. */
async function publish(
  broker: Messages | null,
  { topic, payload }: NonNullable<Step['mqtt']>,
  hasActed: boolean,
): Promise<void> {
  if (broker?.isReady === true) return broker.publish(topic, payload)
  const reason = broker === null ? 'the file names no broker' : 'the broker is away'
  throw hasActed ? new Error(reason) : new Refused(reason)
}

/** What a step expects is looked at after it has acted, so no failure shows that nothing was done. */
async function look(http: Http) {
  try {
    return await request(http)
  } catch (error) {
    throw error instanceof Refused ? new Error(error.message) : error
  }
}

async function request({ method = 'GET', url, headers = {}, body }: Http) {
  let [response, text]: [Response | null, string] = [null, '']
  try {
    response = await fetch(url, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(REQUEST_MS),
    })
    text = await response.text()
  } catch (error) {
    throw requestFailure(error, url)
  }
  try {
    const value: unknown = JSON.parse(text)
    return { status: response.status, value }
  } catch {
    return { status: response.status, value: text }
  }
}

/** Codes of connections that were never made, so no request went over them. */
const UNSENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Names the address, without what may be secret in it, and the cause, which `fetch` hides. */
function requestFailure(error: unknown, url: string): Error {
  const address = URL.canParse(url) ? `${new URL(url).origin}${new URL(url).pathname}` : url
  if (error instanceof Error && error.name === 'TimeoutError')
    return new Error(`${address} gave no answer within ${REQUEST_MS / 1_000} seconds`)
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = String(field(cause, 'code') ?? '')
  const why = code === '' ? String(field(cause, 'message') ?? cause) : code
  if (UNSENT.has(code)) return new Refused(`there is no connection to ${address} (${why})`)
  return new Error(`${address} was asked and gave no answer (${why})`)
}

/** Puts the values of a task into the places of a file. */
function filled(
  plan: CallFile,
  task: ActTask,
  env: Readonly<Record<string, string | undefined>>,
): CallFile {
  const placed = (place: string): unknown => {
    const [head = '', ...rest] = place.split('.')
    const name = rest.join('.')
    const value =
      head === 'command_id'
        ? task.act_task_id
        : head === 'env'
          ? env[name]
          : head === 'parameters'
            ? readPointer(task.parameters, `/${name}`)
            : readPointer(task, `/${rest.join('/')}`)
    if (value !== undefined) return value
    throw faultError(
      'cli.usage',
      place,
      `the file of calls names ${showName(place)}, which is not there`,
    )
  }
  const fill = (value: unknown, isAddress: boolean): unknown => {
    if (Array.isArray(value)) return value.map((one) => fill(one, false))
    if (isObject(value)) {
      return Object.fromEntries(
        Object.entries(value).map(([key, one]) => [key, fill(one, key === 'url')]),
      )
    }
    if (typeof value !== 'string') return value
    const whole = /^\{\{([^{}]+)\}\}$/.exec(value)
    if (whole !== null) return placed(whole[1]?.trim() ?? '')
    return value.replaceAll(/\{\{([^{}]+)\}\}/g, (_all, place: string) => {
      const text = String(placed(place.trim()))
      return isAddress ? encodeURIComponent(text) : text
    })
  }
  // Places become values in the same form.
  return fill(plan, false) as CallFile
}

/** Messages of the topics that the steps expect something of. */
class Messages {
  readonly #last = new Map<string, string>()
  #link: BrokerLink | null = null

  static async open(
    broker: NonNullable<CallFile['broker']>,
    steps: readonly Step[],
  ): Promise<Messages> {
    const messages = new Messages()
    const topics = steps.flatMap(({ expect }) => expect?.topic ?? [])
    let reason = ''
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        void messages.close()
        const why = reason === '' ? '' : ` (${reason})`
        reject(new Refused(`the broker at ${broker.url} cannot be reached${why}`))
      }, REQUEST_MS)
      BrokerLink.open({
        ...broker,
        ca: broker.ca ?? null,
        clientId: `writ-calls-${process.pid}`,
        topics,
        onMessage: (topic, text) => void messages.#last.set(topic, text),
        onTrouble: (said) => {
          reason = said
        },
        onReady: () => {
          clearTimeout(timer)
          resolve()
        },
      }).then((link) => {
        messages.#link = link
      }, reject)
    })
    return messages
  }

  get isReady(): boolean {
    return this.#link?.isReady === true
  }

  last(topic: string): string | undefined {
    return this.#last.get(topic)
  }

  async publish(topic: string, payload: unknown): Promise<void> {
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
    await this.#link?.publish(topic, text, 60)
  }

  async close(): Promise<void> {
    await this.#link?.close()
  }
}
