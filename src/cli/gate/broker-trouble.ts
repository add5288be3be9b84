/**
 * What is wrong with the brokers of the settings (D-2), as `writ doctor` tells it. The trial runs in a
 * process of its own: the MQTT client is in the script of `writ dispatch` alone.
 */
import { join } from 'node:path'
import { field } from '../../contracts/index.ts'
import type { KnownHome } from '../../home/index.ts'
import { runInstalled } from '../../machine/index.ts'
import { surroundings } from '../call/terminal.ts'
import { ownBin } from '../hooks/own-program.ts'
import type { GateSession } from './open.ts'

const LIMIT_MS = 60_000

/** Only for people: the trial uses passwords that they keep. */
export async function brokerTroubles({ gate, session }: GateSession): Promise<readonly string[]> {
  if (session.caller.principal.kind !== 'human') return []
  if (!gate.dispatch.some(({ kind }) => kind === 'mqtt')) return []
  // A session of the gate is opened over a home that is known.
  const { directory } = session.home as KnownHome
  const words = ['dispatch', 'check', '--json', `--home=${directory}`]
  const argv = [process.execPath, join(ownBin(), 'writ.cjs'), ...words]
  const variables = Object.fromEntries(
    Object.entries(surroundings().env).filter(
      (pair): pair is [string, string] => pair[1] !== undefined,
    ),
  )
  const { stdout } = await runInstalled({ argv, cwd: directory, variables, limitMs: LIMIT_MS })
  const brokers = field(readAnswer(stdout), 'brokers')
  if (!Array.isArray(brokers))
    return ['the brokers could not be tried: `writ dispatch check` says why']
  return brokers.flatMap((broker) => {
    const faults = field(broker, 'faults')
    return (Array.isArray(faults) ? faults : []).map((one) => `${field(broker, 'way')}: ${one}`)
  })
}

function readAnswer(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
