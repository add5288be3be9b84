/**
 * A command: JSON on standard input, anything on standard output, operations on descriptor 3, one
 * JSON line `{operation}` in and one `{decision, codes, result}` out.
 */
import { isObject, operationText, type Participate } from './asking.ts'

export const runCommand: Participate = async (asking) => {
  const { participant, input, secrets, workspace } = asking
  const [program, ...words] = 'command' in participant ? participant.command : []
  if (program === undefined) return { outcome: 'failed', text: '', tokens: 0, why: 'no command' }
  const attempt = await asking.attempt()
  const { exitCode, signal, killedBy, aborted, stdout, stderr } = await attempt.run({
    argv: [program, ...words],
    cwd: workspace,
    env: secrets,
    stdin: new TextEncoder().encode(`${JSON.stringify(input)}\n`),
    onLine: async (line) => operationText(await asking.operate(operationIn(line))),
  })
  const text = new TextDecoder().decode(stdout)
  if (exitCode === 0 && !aborted) return { outcome: 'ended', text, tokens: 0 }
  const ending = aborted ? 'stopped' : (killedBy ?? signal ?? `exit status ${exitCode}`)
  const errors = new TextDecoder().decode(stderr).trim().slice(-ERROR_CHARACTERS_MAX)
  return {
    outcome: 'failed',
    text,
    tokens: 0,
    why: errors === '' ? ending : `${ending}: ${errors}`,
  }
}

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
