/**
 * `writ init`: makes a home here, says what it made and why, and registers it. Run again it makes what
 * is missing and nothing else.
 */
import { join } from 'node:path'
import { digestBytes, FaultError, faultError, LEVEL, showName } from '../../base/index.ts'
import {
  type Home,
  type HomeStore,
  type MadeHome,
  makeHome,
  openHome,
  recordChange,
  replacedHome,
  type Surroundings,
  sealCredential,
  shareCredentials,
} from '../../home/index.ts'
import { type Principal, principalText, type Register, samePrincipal } from '../../ledger/index.ts'
import { bareLaws, DEFAULT_LAWS, LAYERED, lawDifferences } from '../../policy/index.ts'
import { lastAccepted, recordDefaultLaws, recordLaws } from '../../service/index.ts'
import type { Ledger } from '../../store/index.ts'
import { visibleName } from '../../words/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import {
  callerOf,
  isBelowAgent,
  localHuman,
  refuseBelowAgent,
  refuseOthers,
  withLedger,
} from '../call/home.ts'
import { canAsk, readNewPassphrase } from '../call/passphrase.ts'
import { surroundings } from '../call/terminal.ts'
import { recordSetAside, releaseHome } from '../gate/set-aside.ts'
import { agreesToLaws, lawsToAccept, type ReadLaws } from '../laws/acceptance.ts'
import { acceptRead } from './trust.ts'

interface InitAnswer {
  readonly home: string
  readonly created: readonly string[]
  readonly credential: 'none' | 'passphrase' | 'passkey'
  readonly level: typeof LEVEL
  /** The home that this one is a copy of. */
  readonly copied_from?: string
  /** The law file is not the one that a human accepted. */
  readonly laws_differ?: true
}

export async function run(call: CommandCall): Promise<Exit> {
  const around = surroundings()
  const isNew = call.options.isOn('new')
  const replaced = replacedHome(around, call.options.text('home'), isNew)
  if (replaced !== null) await releaseHome(call, replaced)
  const isKnown = replaced === null && (await hasCredential(call, around))
  const passphrase = isKnown ? null : await choosePassphrase(call)
  const human = humanOf(call, around)
  const isNamed = ['name', 'namespace'].some((name) => call.options.text(name) !== null)
  await refuseActors(call, around)
  const actor = { principal: human, source: 'cli' }
  // A new history has new laws, and neither a passphrase nor blocks.
  if (isNew) refuseBelowAgent('a new history')
  if (replaced !== null) await recordSetAside(call, replaced)
  const server = storeOption(call)
  const order = server === undefined ? { isNew } : { isNew, server }
  const made = await makeHome(around, call.options.text('home'), actor, order)
  const [credential, isAccepted] = await withLedger(made.home, async (ledger, register) => {
    const settled = await settleHuman(made.home, ledger, register, human, isNamed, passphrase)
    const principal = register.owner ?? human
    // A home with a passphrase takes laws only with that, from `writ laws accept`.
    const isAsked = made.isNew && register.credential === null && isPersonHere(call)
    return [settled, await settleLaws(call, around, { made, ledger, principal, isAsked })] as const
  })
  await tell(call, {
    home: made.home.directory,
    created: made.created,
    credential,
    level: LEVEL,
    ...(made.copiedFrom === null ? {} : { copied_from: made.copiedFrom }),
    ...(isAccepted ? {} : { laws_differ: true }),
  })
  return EXIT.yes
}

function isPersonHere({ options }: CommandCall): boolean {
  return canAsk() && !options.isOn('json') && !isBelowAgent()
}

interface LawsToSettle {
  readonly made: MadeHome
  readonly ledger: Ledger
  readonly principal: Principal
  readonly isAsked: boolean
}

/**
 * Records the laws in force. A law file that was there before the home, such as that of a clone, is
 * accepted only by a person who sees what it changes; without one the default laws are in force. Where
 * several machines use the home, laws that are accepted stay: a machine that joins has no law file yet.
 * Returns whether the laws in force are those of the file.
 */
async function settleLaws(
  call: CommandCall,
  around: Surroundings,
  { made: { home, isNew }, ledger, principal, isAsked }: LawsToSettle,
): Promise<boolean> {
  const accepted = ledger.files === null ? null : await lastAccepted(ledger)
  if (accepted !== null) return home.laws === accepted.laws.laws
  if (home.laws === home.registeredLaws) {
    await recordLaws(home, ledger, principal, Date.now())
    return true
  }
  if (home.registeredLaws !== digestBytes(DEFAULT_LAWS)) return false
  await recordDefaultLaws(home, ledger, principal, Date.now())
  const read = isNew ? await foundLaws(join(home.directory, 'laws.yaml')) : null
  if (read === null) return false
  const isSame = lawDifferences(bareLaws(LAYERED), read.laws).length === 0
  if (!isSame && !(isAsked && (await agreesToLaws(call, null, read)))) return false
  await acceptRead(around, home, ledger, principal, read)
  return true
}

/** Null for a file with a fault, which `writ laws check` explains. */
async function foundLaws(file: string): Promise<ReadLaws | null> {
  try {
    return await lawsToAccept(file)
  } catch (error) {
    if (error instanceof FaultError) return null
    throw error
  }
}

/** Undefined for a file in the state directory. */
function storeOption({ options }: CommandCall): HomeStore | undefined {
  const [url, owner] = [options.text('store'), options.text('store-owner')]
  if (url !== null) return owner === null ? { url } : { url, owner }
  if (owner === null) return undefined
  throw usageError('`--store-owner` is of a `--store`')
}

/** The bearer of a token is known only to a home that is there, and must be a human of it. */
async function refuseActors(call: CommandCall, around: Surroundings): Promise<void> {
  if (around.env['WRIT_TOKEN'] === undefined) return
  const home = openHome(around, call.options.text('home'))
  await withLedger(home, async (_ledger, register) => {
    refuseOthers(callerOf(around, register, null), 'making a home')
  })
}

function humanOf({ options }: CommandCall, around: Surroundings): Principal {
  const { id, namespace } = localHuman(around)
  const principal = {
    kind: 'human' as const,
    id: options.text('name') ?? id,
    namespace: options.text('namespace') ?? namespace,
  }
  if (principal.id !== '' && principal.namespace !== '') return principal
  throw faultError('principal.name', '', 'a name must not be empty')
}

/** A person who has a credential is not asked for another one. */
async function hasCredential({ options }: CommandCall, around: Surroundings): Promise<boolean> {
  if (options.isOn('no-pass') || options.text('pass-fd') !== null || !canAsk()) return false
  try {
    const home = openHome(around, options.text('home') ?? around.cwd)
    return await withLedger(home, async (_ledger, { credential }) => credential !== null)
  } catch {
    // There is no home yet, or none that is obeyed: what follows makes one or says why not.
    return false
  }
}

/** Null for none. Asked first: a wrong answer leaves nothing half made. */
async function choosePassphrase(call: CommandCall): Promise<string | null> {
  if (call.options.isOn('no-pass')) {
    // With `--new` the descriptor proves the human of the history that is set aside.
    if (call.options.text('pass-fd') === null || call.options.isOn('new')) return null
    throw usageError('`--no-pass` and `--pass-fd` contradict one another')
  }
  const passphrase = await readNewPassphrase(
    call,
    'a passphrase, asked for when you approve what cannot be taken back (four words or 12 characters; empty: set it later with `writ principal pass`)',
  )
  if (passphrase === null) {
    const message = 'without a terminal, say how the human credential is made'
    throw usageError(message, '`--no-pass` or `--pass-fd N`')
  }
  return passphrase === '' ? null : passphrase
}

/** Writes down who the home's human is, and the credential if one was chosen and none is there. */
async function settleHuman(
  { state }: Home,
  ledger: Ledger,
  register: Register,
  human: Principal,
  isNamed: boolean,
  passphrase: string | null,
): Promise<InitAnswer['credential']> {
  const principal = register.owner ?? human
  if (isNamed && !samePrincipal(principal, human)) {
    const message = `the human of this home is ${showName(principalText(principal))}`
    throw faultError('principal.exists', '', message)
  }
  const actor = { principal, source: 'cli' }
  if (register.owner === null) {
    await recordChange({ ledger, state }, actor, { change: 'added', principal, credential: 'none' })
  }
  if (register.credential !== null || passphrase === null)
    return register.credential?.kind ?? 'none'
  // The caller who sets the passphrase counts as the human from then on.
  refuseBelowAgent('setting a passphrase')
  const credential_key = await sealCredential(state, passphrase)
  await shareCredentials(state, ledger.files)
  await recordChange({ ledger, state }, actor, {
    change: 'credential_set',
    principal,
    credential: 'passphrase',
    credential_key,
  })
  return 'passphrase'
}

async function tell({ options, terminal }: CommandCall, answer: InitAnswer): Promise<void> {
  if (options.isOn('json')) return terminal.out(`${JSON.stringify(answer)}\n`)
  const { paint } = terminal
  const { home, created, credential, copied_from: original } = answer
  const lines =
    created.length === 0
      ? [`${paint.good('ready')}  ${visibleName(home)}  nothing was missing`]
      : [
          `${paint.good('made')}  ${visibleName(home)}`,
          ...created.map((file) => `  ${visibleName(file)}${paint.dim(why(file))}`),
        ]
  const word =
    credential === 'none'
      ? 'none yet; `writ principal pass` sets a passphrase, for what cannot be taken back'
      : credential
  lines.push(
    `credential  ${word}`,
    `level       ${LEVEL}: bounds mistakes and what goes through the gate, not a hostile process of this user; the level above it, keeper, is not part of this version`,
  )
  if (original !== undefined) {
    lines.push(
      `copy        of ${original}, which keeps its history; this home has its own from now on`,
    )
  }
  if (answer.laws_differ === true) lines.push(`laws        ${LAWS_DIFFER}`)
  return terminal.out(`${lines.join('\n')}\n`)
}

const LAWS_DIFFER =
  'the laws of this repository are not accepted yet, and the ones accepted before (in a new home: the default laws) stay in force: `writ laws check`, then `writ laws accept`'

const REASONS: readonly (readonly [RegExp, string])[] = [
  [/laws\.yaml$/, 'what the gate refuses or asks; shared'],
  [/rules$/, 'rules of the constitution; shared'],
  [/\.gitignore$/, 'keeps everything else out of the repository'],
  [/id$/, 'which state on this machine is this home’s'],
  [/ledger\.db$/, 'the facts; never changed, only added to'],
  [/store\.json$/, 'which server keeps the facts'],
  [/keys$/, 'the key that signs checkpoints; keep it private'],
  [/objects$/, 'outputs and contents that facts only name'],
  [/journal$/, 'promotions under way'],
]

function why(file: string): string {
  const reason = REASONS.find(([pattern]) => pattern.test(file))?.[1]
  return reason === undefined ? '' : `  ${reason}`
}
