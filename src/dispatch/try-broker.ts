/**
 * Tries a broker (D-2): whether it takes the dispatcher, refuses strangers, and keeps the topics of
 * devices apart. The dispatcher itself must not be able to speak as a device.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import {
  allReceipts,
  BrokerLink,
  type BrokerPlace,
  DEFAULT_PREFIX,
  downlinkTopic,
  receiptTopic,
} from '../broker/index.ts'
import type { DispatchWay } from '../contracts/index.ts'
import type { SecretOf } from '../notifications/index.ts'

const READY_MS = 8_000
const HEARD_MS = 500
const LOOK_MS = 50

/** Returns what is wrong, each with what to do; nothing if all is well. */
export async function tryBroker(way: DispatchWay, secretOf: SecretOf): Promise<readonly string[]> {
  const { url, user = '', ca = null, prefix = DEFAULT_PREFIX, secret = '' } = way
  const password = secretOf(secret)
  if (password === null) return [`no key ${secret} is kept: \`writ secret set ${secret}\``]
  const place = { url, user, password, ca }
  const stranger = await reach({ ...place, user: `stranger-${suffix()}`, password: suffix() }, [])
  await stranger.link?.close()
  const faults: string[] = []
  if (stranger.link !== null)
    faults.push(
      'it takes a user without a known password: set `allow_anonymous false` and a password file',
    )
  const own = await reach(place, [allReceipts(prefix)])
  if (own.link === null) return [...faults, `it does not take the dispatcher: ${own.reason}`]
  try {
    return [...faults, ...(await tryTopics(own.link, prefix, own.heard))]
  } finally {
    await own.link.close()
  }
}

async function tryTopics(
  link: BrokerLink,
  prefix: string,
  heard: ReadonlySet<string>,
): Promise<readonly string[]> {
  const device = { id: `doctor-${suffix()}`, namespace: 'writ' }
  const faults: string[] = []
  try {
    await link.publish(downlinkTopic(prefix, device), '{}', 1)
  } catch {
    faults.push(
      `the dispatcher cannot write to ${prefix}/downlink/…: let its user do so in the ACL file`,
    )
  }
  const topic = receiptTopic(prefix, device)
  await link.publish(topic, '{}', 1).catch(() => null)
  await pause(HEARD_MS)
  if (heard.has(topic)) {
    faults.push(
      'others than the device can write to its topic: use the ACL file of `examples/field`',
    )
  }
  return faults
}

interface Reached {
  readonly link: BrokerLink | null
  readonly reason: string
  readonly heard: ReadonlySet<string>
}

/** Connects, and gives up after a while. */
async function reach(place: BrokerPlace, topics: readonly string[]): Promise<Reached> {
  const heard = new Set<string>()
  let reason = 'it does not answer'
  const link = await BrokerLink.open({
    ...place,
    clientId: `writ-check-${suffix()}`,
    topics,
    onMessage: (topic) => heard.add(topic),
    onTrouble: (why) => {
      reason = why
    },
  })
  for (const untilMs = Date.now() + READY_MS; Date.now() < untilMs; ) {
    if (link.isReady) return { link, reason, heard }
    await pause(LOOK_MS)
  }
  await link.close()
  return { link: null, reason, heard }
}

function suffix(): string {
  return randomBytes(6).toString('hex')
}
