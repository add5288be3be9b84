/** The variables that `--env` names: with a value, or with the one that they have here. */
import { FaultError, fault, showName } from '../../base/index.ts'

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

export function readEnv(
  texts: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text) => {
      const end = text.indexOf('=')
      const name = end === -1 ? text : text.slice(0, end)
      if (!NAME.test(name)) throw usage(`${showName(name)} is not the name of a variable`)
      const value = end === -1 ? environment[name] : text.slice(end + 1)
      if (value === undefined) throw usage(`the variable ${showName(name)} is not set here`)
      return [name, value]
    }),
  )
}

function usage(message: string): FaultError {
  const hint = '--env NAME passes a variable on, --env NAME=VALUE sets one'
  return new FaultError(fault('cli.usage', '', null, { message, hint }))
}
