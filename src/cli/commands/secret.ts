/** `writ secret …`: keys for models that stay outside of sessions. Values are never printed. */
import { readFileSync } from 'node:fs'
import { faultError, showName } from '../../base/index.ts'
import { isSecretName, removeSecret, secretNames, setSecret, stateRoot } from '../../home/index.ts'
import { type CommandCall, type Exit, reply, usageError } from '../call/command.ts'
import { refuseTokens } from '../call/home.ts'
import { askHidden, canAsk } from '../call/passphrase.ts'
import { surroundings } from '../call/terminal.ts'

const VALUE_MAX = 16 * 1024

/** `writ secret set NAME`: from the terminal, without showing it, or from standard input. */
export async function set(call: CommandCall): Promise<Exit> {
  refuseTokens(surroundings(), 'keeping a key')
  const name = nameOf(call)
  const typed = canAsk() ? await askHidden(`the value of ${name}`) : readFileSync(0, 'utf8')
  const value = typed.trim()
  if (value === '' || value.length > VALUE_MAX || /\s/.test(value)) {
    throw usageError(
      'a key is one word without blanks',
      `printf %s "$KEY" | writ secret set ${name}`,
    )
  }
  setSecret(stateRoot(surroundings()), name, value)
  return reply(call, { name, kept: true }, (paint) => `${paint.good('kept')}  ${name}\n`)
}

export async function list(call: CommandCall): Promise<Exit> {
  refuseTokens(surroundings(), 'listing the names of keys')
  const names = secretNames(stateRoot(surroundings()))
  return reply(call, { secrets: names }, () =>
    names.length === 0
      ? 'no key is kept; keep one with `writ secret set NAME`\n'
      : names.map((name) => `${name}\n`).join(''),
  )
}

export async function remove(call: CommandCall): Promise<Exit> {
  refuseTokens(surroundings(), 'removing a key')
  const name = nameOf(call)
  if (!removeSecret(stateRoot(surroundings()), name)) {
    const message = `no key ${showName(name)} is kept`
    throw faultError('secret.unknown', name, message, '`writ secret list` shows the names')
  }
  return reply(call, { name, kept: false }, (paint) => `${paint.good('removed')}  ${name}\n`)
}

function nameOf(call: CommandCall): string {
  const [name, ...others] = call.arguments
  if (name === undefined || others.length > 0 || !isSecretName(name)) {
    throw usageError('name one key, in capital letters', 'writ secret set ANTHROPIC_API_KEY')
  }
  return name
}
