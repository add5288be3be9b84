/**
 * `writ doctor`: tries each control of the sandbox as this user and says how to get what is missing.
 * Says the trust level plainly, and whether the home's human has a credential.
 */
import { mkdtempSync } from 'node:fs'
import { CODES, faultCode, LEVEL } from '../../base/index.ts'
import { removeTree } from '../../machine/index.ts'
import { createDriver, type Probe } from '../../sandbox/index.ts'
import type { GateSurface, KeptState } from '../../service/index.ts'
import { custodyOf } from '../../store/index.ts'
import { probeView } from '../../view/index.ts'
import { counted, grouped, sizeText, visibleName } from '../../words/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { withHistory, withHome } from '../call/home.ts'
import type { Terminal } from '../call/terminal.ts'
import { troublesIn, troublesText } from '../flow/schedule-trouble.ts'
import { brokerTroubles } from '../gate/broker-trouble.ts'
import { undeliveredIn } from '../gate/delivery-text.ts'
import { type MachineLook, machineLines, machineLook } from '../gate/machine-lines.ts'
import { type GateSession, withGate } from '../gate/open.ts'

/** Without these commands are rehearsed all the same, with less comfort. */
const OPTIONAL = ['overlay_memory', 'terminal', 'directory_rename', 'live_view']

export async function run(call: CommandCall): Promise<Exit> {
  const controls = await tryControls()
  const ok = isUsable(controls)
  const credential = await credentialOf(call)
  const { kept, approvals, dropped_variables, schedules, undelivered, brokers } =
    credential === null ? NO_HOME : await withGate(call, lookInto)
  const custody: Custody =
    credential === null ? LEVEL : await withHistory(call, ({ ledger }) => custodyOf(ledger))
  const machine = credential === null ? null : await withHome(call, machineLook)
  const found = {
    ok,
    level: LEVEL,
    confinement: confinementOf(controls),
    custody,
    credential,
    kept,
    approvals,
    dropped_variables,
    undelivered,
    brokers,
  }
  const ofServer = machine === null ? {} : { machine }
  const answer = {
    ...found,
    ...ofServer,
    ...(schedules.length === 0 ? {} : { schedules }),
    controls,
  }
  await call.terminal.out(
    call.options.isOn('json')
      ? `${JSON.stringify(answer)}\n`
      : `${[...controls.map((control) => line(control, call.terminal)), ...closing(answer)].join('\n')}\n${troublesText(schedules, call.terminal.paint)}`,
  )
  return ok ? EXIT.yes : EXIT.no
}

const NO_HOME = {
  kept: null,
  approvals: null,
  dropped_variables: [],
  schedules: [],
  undelivered: 0,
  brokers: [],
}

/** The view of sessions is tried only where commands can be rehearsed. */
async function tryControls(): Promise<readonly Probe[]> {
  const driver = createDriver()
  const place = mkdtempSync('/var/tmp/writ-doctor-')
  try {
    const controls = await driver.probe()
    if (!isUsable(controls)) return controls
    return [...controls, await probeView(driver, place)]
  } finally {
    await driver.close()
    await removeTree(place)
  }
}

function isUsable(controls: readonly Probe[]): boolean {
  return controls.every(({ name, status }) => status !== 'absent' || OPTIONAL.includes(name))
}

/** What agents can have here at best: a session around them, or hooks that report. */
function confinementOf(controls: readonly Probe[]): 'advisory' | 'confined' {
  const view = controls.find(({ name }) => name === 'live_view')
  return view === undefined || view.status === 'absent' ? 'advisory' : 'confined'
}

type Wanted = Awaited<ReturnType<GateSurface['approvalsWanted']>>

async function lookInto(session: GateSession) {
  const { gate } = session
  const dropped_variables = gate.droppedVariables
  const schedules = await troublesIn([session])
  return {
    schedules,
    undelivered: await undeliveredIn([session]),
    brokers: await brokerTroubles(session),
    kept: await gate.kept(),
    approvals: await gate.approvalsWanted(),
    dropped_variables,
  }
}

type Credential = 'none' | 'passphrase' | null

/** Null where there is no home. */
async function credentialOf(call: CommandCall): Promise<Credential> {
  try {
    return await withHistory(call, async ({ register }) =>
      register.credential === null ? 'none' : 'passphrase',
    )
  } catch (error) {
    if (faultCode(error) === 'home.missing') return null
    throw error
  }
}

const NAME_WIDTH = 18

function line({ name, status, hint }: Probe, { paint }: Terminal): string {
  const word = status === 'absent' ? paint.bad(status) : paint.good(status)
  const more = hint === undefined ? '' : `  ${paint.dim(hint)}`
  return `${name.padEnd(NAME_WIDTH)} ${word}${more}`
}

const CREDENTIALS = {
  none: 'no passphrase yet: `writ principal pass` sets one, for what cannot be taken back',
  passphrase: 'the human of this home has a passphrase',
}

function closing({
  ok,
  confinement,
  custody,
  credential,
  kept,
  approvals,
  dropped_variables: dropped,
  undelivered,
  brokers,
  machine,
}: DoctorEnd) {
  return [
    '',
    ok
      ? 'commands can be rehearsed here'
      : 'commands cannot be rehearsed here until that is repaired',
    confinement === 'confined'
      ? 'confinement: confined for agents under `writ run`, advisory for agents with hooks alone'
      : 'confinement: advisory: sessions do not work here, so only hooks bound agents',
    custodyLine(custody),
    ...(credential === null ? [] : [CREDENTIALS[credential]]),
    ...(kept === null ? [] : keptLines(kept)),
    ...(approvals === null ? [] : [approvalsLine(approvals)]),
    ...(dropped.length === 0 ? [] : [droppedLine(dropped)]),
    ...(undelivered === 0 ? [] : [undeliveredLine(undelivered)]),
    ...(machine === undefined ? [] : machineLines(machine)),
    ...brokers.map((words) => `broker ${words}`),
  ]
}

function undeliveredLine(count: number): string {
  const [words, have] = [counted(count, 'question'), count === 1 ? 'has' : 'have']
  return `${words} ${have} not reached people by every way of \`settings.notify\`: \`writ inbox\` says why`
}

function droppedLine(names: readonly string[]): string {
  const listed = names.map(visibleName).join(', ')
  return `variables that runs do not see: ${listed}; \`writ exec --env NAME\` passes one on`
}

function approvalsLine({ needed, humans }: NonNullable<Wanted>): string {
  const have = humans === 1 ? '1 human has' : `${humans} humans have`
  const words = `a law wants ${needed} humans to approve, and ${have} a credential of their own`
  return humans < needed
    ? `laws.few_humans: ${words}: what it asks can only wait or be denied`
    : words
}

type Custody = Awaited<ReturnType<typeof custodyOf>>

const NO_KEEPER =
  'the level above it, keeper, with another system user for keys and laws, is not part of this version'

function custodyLine(custody: Custody): string {
  const bounds =
    'bounds what goes through writ, and mistakes; it does not bind a hostile process of this user'
  if (custody === 'seatbelt')
    return `custody: ${custody}, so trust level ${LEVEL}: ${bounds}; ${NO_KEEPER}`
  return `custody: witnessed: others cosign the history, so a rewrite or an old copy shows; else as ${LEVEL}, which ${bounds}; ${NO_KEEPER}`
}

interface DoctorEnd {
  readonly ok: boolean
  readonly confinement: 'advisory' | 'confined'
  readonly custody: Custody
  readonly credential: Credential
  readonly kept: KeptState | null
  readonly approvals: Wanted
  readonly dropped_variables: readonly string[]
  readonly undelivered: number
  /** Of a home whose facts lie on a server. */
  readonly machine?: MachineLook
  /** What is wrong with the brokers of the settings. */
  readonly brokers: readonly string[]
}

function keptLines(kept: KeptState): readonly string[] {
  const { audit_level, outputs_days, undo, standing } = kept
  const room = `${sizeText(undo.bytes)} of ${sizeText(undo.quota_bytes)}`
  const until = undo.first_until === null ? '' : `, the first of them until ${undo.first_until}`
  const bodies =
    audit_level === 'FORENSIC'
      ? 'FORENSIC: no body is dropped by itself'
      : `${audit_level}: outputs are kept for ${audit_level === 'SUMMARY' ? Math.min(1, outputs_days) : outputs_days} days`
  return [
    `${counted(undo.actions, 'act')} can be taken back${until}; undo keeps ${counted(undo.days, 'day')} and ${room}`,
    `audit level ${bodies}`,
    ...standingLines(standing),
    ...(kept.laws_differ ? [`laws.unaccepted: ${CODES['laws.unaccepted'].says}`] : []),
  ]
}

function standingLines({ kept, facts, dropped }: KeptState['standing']): readonly string[] {
  const words = `${counted(facts, 'fact')} on the ledger, ${grouped(kept)} of them summed up for a quick start`
  if (dropped === null) return [words]
  return [words, `${dropped.at}  ${dropped.code}  ${dropped.message}`]
}
