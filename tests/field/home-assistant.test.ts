/** Home Assistant behind a broker (D-2): the shipped calls against a switch as its documentation has it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectAsync } from 'mqtt'
import { expect, it } from 'vitest'
import { startBroker } from '../../examples/field/broker.mjs'
import type { ActTask } from '../../src/contracts/index.ts'
import { calls } from '../../src/device/index.ts'

const WORD = 'a word for trials'
const SHIPPED = readFileSync('examples/field/home-assistant-mqtt.json', 'utf8')
const TASK: ActTask = JSON.parse(readFileSync('examples/documents/task.json', 'utf8'))
/** The discovery message of a switch; without other words its payloads are ON and OFF. */
const SWITCH = {
  name: 'pump 2',
  command_topic: 'home/pump_2/set',
  state_topic: 'home/pump_2/state',
}

it('carries a task out by the topics of a switch, and claims nothing that the switch did not say', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'writ-hass-'))
  const acl = 'user hass\ntopic readwrite home/#\ntopic readwrite homeassistant/#\n'
  const broker = await startBroker(join(folder, 'broker'), { hass: WORD }, { acl })
  const ca = readFileSync(broker.ca)
  const pump = await connectAsync(broker.url, { username: 'hass', password: WORD, ca })
  const heard: string[] = []
  let isStuck = false
  try {
    await pump.publishAsync('homeassistant/switch/pump_2/config', JSON.stringify(SWITCH))
    pump.on('message', (_topic, bytes) => {
      heard.push(String(bytes))
      if (!isStuck) pump.publish(SWITCH.state_topic, String(bytes), { retain: true })
    })
    await pump.subscribeAsync(SWITCH.command_topic)
    const file = join(folder, 'calls.json')
    const near = SHIPPED.replace('mqtts://homeassistant.local:8883', broker.url)
    writeFileSync(file, near.replaceAll('"within_s": 10', '"within_s": 2'))
    const env = { HASS_MQTT_USER: 'hass', HASS_MQTT_PASSWORD: WORD, HASS_MQTT_CA: broker.ca }
    const carryOut = calls(file, env)
    expect(await carryOut(TASK)).toMatchObject({ status: 'executed' })
    expect(heard).toEqual(['ON', 'OFF'])
    // A switch that hears and does not answer: what it did is not known.
    isStuck = true
    expect(await carryOut(TASK)).toMatchObject({ status: 'unknown' })
    expect(heard).toEqual(['ON', 'OFF', 'ON'])
  } finally {
    await pump.endAsync()
    await broker.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}, 60_000)
