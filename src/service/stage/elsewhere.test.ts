/** Which acts only the machine that rehearsed them can carry out. */
import { expect, it } from 'vitest'
import { PUSH_HEADER } from '../acts/git-push.ts'
import { COMMAND_HEADER } from '../acts/held-command.ts'
import { BUDGET_HEADER } from '../acts/session-budget.ts'
import { refuseElsewhere } from './elsewhere.ts'

type Place = Parameters<typeof refuseElsewhere>[0]
type Act = Parameters<typeof refuseElsewhere>[1]

// What the function looks at of a ledger on a server, and of an act without changes.
const place = {
  ledger: { files: {}, machineNames: () => ['ours'], keys: async () => ({}) },
} as unknown as Place
function act(machine: string, header: string): Act {
  const result = { side_effects: { held: [{ header_names: ['accept', header] }] } }
  return { actionId: 'a', changes: [], result, evaluation: { host: { machine } } } as unknown as Act
}

it.each([PUSH_HEADER, COMMAND_HEADER, BUDGET_HEADER])(
  'an act whose %s lies in the state of another machine is refused here',
  async (header) => {
    await expect(refuseElsewhere(place, act('theirs', header))).rejects.toMatchObject({
      fault: { code: 'machine.elsewhere' },
    })
    await refuseElsewhere(place, act('ours', header))
    // Any machine sends a plain request.
    await refuseElsewhere(place, act('theirs', 'content-type'))
  },
)
