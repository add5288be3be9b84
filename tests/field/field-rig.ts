/** A ledger, a real broker, a dispatcher and devices with the reference executor, in one process. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Broker, startBroker } from '../../examples/field/broker.mjs'
import type { ActTask, DispatchFact, DispatchWay } from '../../src/contracts/index.ts'
import {
  type CarryOut,
  DeviceJournal,
  type DeviceLink,
  type DeviceNews,
  Executor,
  MqttLink,
  openDeviceKey,
} from '../../src/device/index.ts'
import {
  DeviceKeys,
  DispatchLoop,
  HomeSigner,
  type LoopNews,
  recordDeviceKey,
  type WayNews,
  WaySet,
} from '../../src/dispatch/index.ts'
import { allFacts, newTask, recordTask } from '../../src/history/index.ts'
import {
  type Caller,
  dispatchBreach,
  encodeBase64,
  type OpenedFact,
  parseDevice,
} from '../../src/ledger/index.ts'
import {
  createLedger,
  type Ledger,
  type NewStore,
  openLedger,
  recordedKeys,
} from '../../src/store/index.ts'

export const ANN: Caller = {
  principal: { kind: 'human', id: 'ann', namespace: 'farm' },
  streams: null,
  proof: 'none',
}
const PASSWORD = 'a word for trials'
const TASK = JSON.parse(
  readFileSync(new URL('../../examples/documents/task.json', import.meta.url), 'utf8'),
)

interface RunningDevice {
  readonly executor: Executor
  readonly news: DeviceNews[]
}

export class FieldRig {
  readonly folder = mkdtempSync(join(tmpdir(), 'writ-field-'))
  readonly news: (LoopNews | WayNews)[] = []
  /** How often each command was carried out, over all devices. */
  readonly done = new Map<string, number>()
  ledger!: Ledger
  broker!: Broker
  homeKeys: readonly string[] = []
  #loops: (() => Promise<void>)[] = []
  readonly #devices = new Set<Executor>()

  /** `store`: where the facts lie; without it in a file. */
  async open(devices: readonly string[], store?: NewStore): Promise<this> {
    const users = Object.fromEntries(devices.map((id) => [`farm/${id}`, PASSWORD]))
    this.broker = await startBroker(join(this.folder, 'broker'), {
      writ: PASSWORD,
      intruder: PASSWORD,
      ...users,
    })
    const actor = { principal: ANN.principal, source: 'test' }
    await createLedger({ directory: this.state }, 'writ/field', actor, store)
    this.ledger = await openLedger({ directory: this.state })
    this.homeKeys = (await recordedKeys(this.ledger.store)).keys.map((key) =>
      encodeBase64(key.publicKey),
    )
    for (const id of devices) {
      const { publicKey } = openDeviceKey(this.deviceFolder(id))
      await recordDeviceKey(this.ledger, actor, this.name(id), publicKey, Date.now())
    }
    return this
  }

  get state(): string {
    return join(this.folder, 'state')
  }

  /** How far the clock of the home is ahead. */
  aheadMs = 0

  get host() {
    return { ledger: this.ledger, state: this.state, nowMs: () => Date.now() + this.aheadMs }
  }

  deviceFolder(id: string): string {
    return join(this.folder, 'devices', id)
  }

  name(id: string) {
    const device = parseDevice(id, 'farm')
    if (device === null) throw new Error(`${id} is no device`)
    return device
  }

  get way(): DispatchWay {
    const { url, ca } = this.broker
    return {
      name: 'field',
      kind: 'mqtt',
      url,
      user: 'writ',
      secret: 'WORD',
      ca,
      devices: ['*@farm'],
    }
  }

  /** Looks every 50 ms until it is stopped. */
  dispatch(
    ways: readonly DispatchWay[] = [this.way],
    resendMs = 500,
    ledger = this.ledger,
  ): () => Promise<void> {
    const tell = (one: LoopNews | WayNews): void => void this.news.push(one)
    const host = { ...this.host, ledger }
    const signer = new HomeSigner(host)
    const loop = new DispatchLoop({ host, principal: ANN.principal, signer, tell, resendMs })
    const uplink = { host, keys: new DeviceKeys(ledger), streamOf: loop.streamOf }
    const secretOf = (): string => PASSWORD
    const set = new WaySet({
      uplink,
      signer,
      secretOf,
      clientId: `writ-dispatch-${randomUUID()}`,
      tell,
    })
    const stop = new AbortController()
    const looking = (async () => {
      const open = await set.follow(ways)
      while (!stop.signal.aborted) {
        await loop.look(ways, open)
        await pause(50, null, { signal: stop.signal }).catch(() => null)
      }
      await set.close()
    })()
    const end = async (): Promise<void> => {
      stop.abort()
      await looking
    }
    this.#loops.push(end)
    return end
  }

  /** Counts what is carried out; `work` is what happens then. */
  async device(
    id: string,
    work: () => Promise<void> = async () => {},
    link: DeviceLink = this.link(id),
  ): Promise<RunningDevice> {
    const news: DeviceNews[] = []
    const carryOut: CarryOut = async ({ act_task_id, parameters }) => {
      this.done.set(act_task_id, (this.done.get(act_task_id) ?? 0) + 1)
      await work()
      const logs = [{ kind: 'test', ref: 'log:1' }]
      return { status: 'executed', observed: { ...parameters }, usage: {}, logs, violations: [] }
    }
    const executor = new Executor({
      device: this.name(id),
      link,
      journal: DeviceJournal.open(this.deviceFolder(id), Date.now()),
      carryOut,
      homeKeys: this.homeKeys,
      tell: (one) => void news.push(one),
      nowMs: Date.now,
    })
    this.#devices.add(executor)
    await executor.start()
    return { executor, news }
  }

  async stop(executor: Executor): Promise<void> {
    this.#devices.delete(executor)
    await executor.stop()
  }

  link(id: string, user = `farm/${id}`): MqttLink {
    const { url, ca } = this.broker
    const [device, key] = [this.name(id), openDeviceKey(this.deviceFolder(id))]
    const terms = { device, key, homeKeys: this.homeKeys, prefix: 'writ', trouble: () => {} }
    return new MqttLink({ url, ca, user, password: PASSWORD, ...terms })
  }

  /** A human issues a task for a device, whose window is open from now on. */
  async issue(device: string, seconds = 60, afterMs = 0): Promise<string> {
    const start = Date.now() + afterMs
    const document = {
      ...TASK,
      issuer: ANN.principal,
      time_window: { start_ts: start, end_ts: start + seconds * 1_000 },
      meta: { device_id: device },
    }
    const answer = newTask(document, ANN)
    if (!answer.ok) throw new Error(JSON.stringify(answer.violations))
    return this.record(answer.task)
  }

  async record(task: ActTask): Promise<string> {
    const { ledger } = this
    const recorded = await recordTask({ ledger, stream: 'main', caller: ANN, source: 'test' }, task)
    if (!recorded.ok) throw new Error(JSON.stringify(recorded.violations))
    return recorded.act_task_id
  }

  facts(taskId: string): Promise<readonly OpenedFact[]> {
    return allFacts(this.ledger, { stream: 'main', task: taskId })
  }

  /** What happened to a task, in a row: events of dispatch, and receipts. */
  async story(taskId: string): Promise<readonly string[]> {
    return (await this.facts(taskId))
      .slice(1)
      .map(({ record, payload }) =>
        record.type === 'dispatch_v1' ? (payload as DispatchFact).event : 'receipt',
      )
  }

  /** The first step that does not follow; null if all do. */
  async breach(taskId: string) {
    const keys = await new DeviceKeys(this.ledger).read()
    return dispatchBreach(await this.facts(taskId), (device, at) => keys.at(device, at))
  }

  async close(): Promise<void> {
    for (const executor of this.#devices) await executor.stop()
    for (const end of this.#loops) await end()
    await this.ledger?.close()
    await this.broker?.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Waits until something is so. Fails with what it is instead. */
export async function until<T>(
  look: () => T | Promise<T>,
  isSo: (found: T) => boolean,
  waitMs = 20_000,
): Promise<T> {
  const untilMs = Date.now() + waitMs
  for (;;) {
    const found = await look()
    if (isSo(found)) return found
    if (Date.now() >= untilMs) throw new Error(`it stayed ${JSON.stringify(found)}`)
    await pause(50)
  }
}
