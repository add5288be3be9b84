/** `writ grant list` and `writ grant revoke`: what humans let agents do with "always", and its end. */
import { faultError, showName } from '../../base/index.ts'
import type { KnownGrant } from '../../gate/index.ts'
import { visibleName } from '../../words/index.ts'
import { type CommandCall, type Exit, reply, usageError } from '../call/command.ts'
import { refuseOthers } from '../call/home.ts'
import { withGates } from '../gate/open.ts'

const SHORT_ID = 8
const SHORT_MIN = 4

export async function list(call: CommandCall): Promise<Exit> {
  return withGates(call, async (sessions) => {
    const found: KnownGrant[] = []
    for (const { session, gate } of sessions) {
      refuseOthers(session.caller, 'listing grants')
      found.push(...(await gate.given()))
    }
    const grants = found.map(({ usedBy, ...grant }) => ({ ...grant, used: usedBy.length }))
    const rows = grants.map(grantLine).join('')
    return reply(call, { grants }, () => (rows === '' ? NONE : rows))
  })
}

const NONE =
  'no grants: the answer `always` to a question of an agent gives one; `writ laws check` lists those of the laws\n'

type ListedGrant = Omit<KnownGrant, 'usedBy'> & { readonly used: number }

function grantLine({ grant_id, agent, glob, uses, used, until }: ListedGrant): string {
  const id = grant_id.slice(0, SHORT_ID)
  const what = `${visibleName(agent)} may create and change ${visibleName(glob)}`
  return `${id}  ${what}  used ${used} of ${uses}  until ${until.slice(0, 10)}\n`
}

export async function revoke(call: CommandCall): Promise<Exit> {
  const [wanted = '', ...rest] = call.arguments
  if (wanted.length < SHORT_MIN || rest.length > 0) {
    throw usageError('name one grant by its id', 'writ grant list')
  }
  return withGates(call, async (sessions) => {
    for (const { session, gate } of sessions) {
      refuseOthers(session.caller, 'revoking a grant')
      const found = (await gate.given()).filter(({ grant_id }) => grant_id.startsWith(wanted))
      const [grant] = found
      if (grant === undefined || found.length > 1) continue
      await gate.revoke(grant.grant_id)
      const { grant_id } = grant
      const text = `revoked: ${visibleName(grant.agent)} is asked about ${visibleName(grant.glob)} again\n`
      return reply(call, { ok: true, grant_id }, () => text)
    }
    const message = `no grant that is in force has the id ${showName(wanted)}`
    throw faultError('grant.unknown', wanted, message, '`writ grant list` shows all')
  })
}
