/**
 * `writ principal pass`: a human sets the passphrase of their own credential, once. A token is enough to
 * act in a human's name; an approval that several humans must give is signed with this credential.
 */
import { faultError, showName } from '../../base/index.ts'
import { recordChange, sealCredential } from '../../home/index.ts'
import { ownCredential, principalText, samePrincipal } from '../../ledger/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import {
  actorOf,
  placeOf,
  refuseBelowAgent,
  refuseOthers,
  type Session,
  withHome,
} from '../call/home.ts'
import { readNewPassphrase } from '../call/passphrase.ts'
import { usageError } from '../call/usage.ts'

export async function run(call: CommandCall): Promise<Exit> {
  return withHome(call, async (session) => {
    const { principal } = session.caller
    refuseOthers(session.caller, 'setting a passphrase')
    refuseBelowAgent('setting a passphrase')
    refuseSecond(session)
    const passphrase = await readNewPassphrase(call, 'a passphrase of your own for approvals')
    if (passphrase === null || passphrase === '') {
      throw usageError('without a terminal, hand the passphrase over', '`--pass-fd N`')
    }
    const { owner } = session.register
    const isOwner = owner !== null && samePrincipal(owner, principal)
    const key = await sealCredential(session.home.state, passphrase, isOwner ? 'owner' : 'other')
    await recordChange(placeOf(session), actorOf(session), {
      change: 'credential_set',
      principal,
      credential: 'passphrase',
      credential_key: key,
    })
    const { terminal, options } = call
    await terminal.out(
      options.isOn('json')
        ? `${JSON.stringify({ principal, credential: 'passphrase', credential_key: key })}\n`
        : `${terminal.paint.good('set')}  ${principalText(principal)} has a passphrase of their own\n`,
    )
    return EXIT.yes
  })
}

/** Fails if the caller has a credential: signatures made with it stay valid, so it is never replaced. */
function refuseSecond({ caller, register }: Session): void {
  if (ownCredential(register.credentials, caller.principal) === null) return
  const message = `${showName(principalText(caller.principal))} has a passphrase already`
  throw faultError('credential.exists', '', message)
}
