/**
 * A command: JSON on standard input, anything on standard output, operations on descriptor 3, one
 * JSON line `{operation}` in and one `{decision, codes, result}` out.
 */
import { FaultError, fault } from '../../base/index.ts'
import type { ParticipantOutcome } from '../../service/index.ts'
import { isObject, operationText, type Participate, type Said } from './participant-request.ts'
import { withoutSecrets } from './secrets.ts'

export const runCommand: Participate = async (asking) => {
  const { participant, input, secrets, workspace } = asking
  const [program, ...words] = 'command' in participant ? participant.command : []
  if (program === undefined) return { outcome: 'failed', text: '', tokens: 0, why: 'no command' }
  const attempt = await asking.attempt()
  const outcome = await attempt.run({
    argv: [program, ...words],
    cwd: workspace,
    // The attempt adds the secrets: what is handed in here is on the record.
    env: {},
    stdin: new TextEncoder().encode(`${JSON.stringify(input)}\n`),
    onLine: async (line) => operationText(await asking.operate(operationIn(line))),
  })
  if (outcome.refused !== null) return refusedRun(outcome.refused)
  const { exitCode, signal, killedBy, aborted, stdout, stderr, isCut, left } = outcome
  // The run did not stop it, so a halt did, which may be lifted again by now.
  if (aborted && !asking.signal.aborted) throw stoppedBy('halted')
  const text = new TextDecoder().decode(stdout)
  if (exitCode === 0 && isCut) return { outcome: 'failed', text, tokens: 0, why: CUT }
  if (exitCode === 0 && !aborted) return { outcome: 'ended', text, tokens: 0, left }
  const ending = aborted ? 'stopped' : (killedBy ?? signal ?? `exit status ${exitCode}`)
  const told = withoutSecrets(new TextDecoder().decode(stderr), secrets)
  const errors = told.trim().slice(-ERROR_CHARACTERS_MAX)
  return {
    outcome: 'failed',
    text,
    tokens: 0,
    why: errors === '' ? ending : `${ending}: ${errors}`,
  }
}

/** What holds for everything on this host ends the run instead of counting against the participant. */
function refusedRun({ code, codes }: NonNullable<ParticipantOutcome['refused']>): Said {
  if (code === 'halted' || code === 'laws.changed' || code === 'sandbox.control_missing')
    throw stoppedBy(code)
  return { outcome: 'failed', text: '', tokens: 0, why: codes.join(', ') }
}

function stoppedBy(code: 'halted' | 'laws.changed' | 'sandbox.control_missing'): FaultError {
  return new FaultError(fault(code, '', null, { hint: '`writ flow resume` goes on afterwards' }))
}

const CUT = 'its output is longer than 16 MiB and was cut'
const ERROR_CHARACTERS_MAX = 2_000

/** What is no request is handed on as it is: the gate refuses it and says why. */
function operationIn(line: string): unknown {
  try {
    const said: unknown = JSON.parse(line)
    return isObject(said) && Object.hasOwn(said, 'operation') ? said['operation'] : said
  } catch {
    return line
  }
}
