/** Reads a passphrase that a person chooses: strong enough, and typed twice if it is typed. */
import { FaultError, fault } from '../../base/index.ts'
import { isStrongPassphrase } from '../../home/index.ts'
import type { CommandCall } from './command.ts'
import { askHidden, canAsk, readPassphrase } from './passphrase.ts'

/** Returns null if there is neither a descriptor nor a terminal; empty if the person typed nothing. */
export async function readNewPassphrase(
  call: CommandCall,
  question: string,
): Promise<string | null> {
  const passphrase = await readPassphrase(call, question)
  const isAsked = call.options.text('pass-fd') === null
  if (passphrase === null || (passphrase === '' && isAsked)) return passphrase
  if (!isStrongPassphrase(passphrase)) throw new FaultError(fault('credential.weak', '', null))
  if (isAsked && canAsk() && (await askHidden('once more')) !== passphrase) {
    throw new FaultError(
      fault('credential.wrong', '', null, { message: 'the two are not the same' }),
    )
  }
  return passphrase
}
