/** Hosts whose participants, machines and people do anything: all of it follows from one seed. */
import { type FlowCommand, stopsOf } from '../../src/flow/index.ts'
import type { Attempt, Host } from './host.ts'

/** Numbers that follow from a seed alone. */
export function diceOf(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * sides)
  }
}

type Dice = ReturnType<typeof diceOf>

/** One attempt in `odds` goes wrong in some way. */
export function attemptBy(dice: Dice, odds: number): Attempt {
  const stage = `s${dice(1_000_000)}`
  if (dice(odds) !== 0) return { stage }
  const faults: readonly Attempt[] = [
    { score: 40 },
    { score: 40 },
    { score: 40 },
    { outcome: 'failed' },
    { blocked: true },
    { result: 'NOOP' },
    { result: 'ERROR' },
    { stage: null },
  ]
  return { stage, ...faults[dice(faults.length)] }
}

/** Answers commands in any order until only people are waited for. */
export function play(host: Host, dice: Dice, odds: number): void {
  for (let count = 0; count < 1500; count++) {
    const open = host.open.filter(({ type }) => type !== 'ask_human' && type !== 'wait')
    const command = open[dice(open.length)]
    if (command === undefined) return
    host.open.splice(host.open.indexOf(command), 1)
    answer(host, command, dice(odds * 4) === 0)
  }
  throw new Error('the run does not come to an end')
}

function answer(host: Host, command: FlowCommand, isWrong: boolean): void {
  const to = { command: command.command }
  if (isWrong && command.type === 'promote') {
    const { node_id, manifest } = command
    host.send({ type: 'promoted', node_id, ...to, action_id: null, manifest })
  } else if (isWrong && command.type === 'roll_back')
    host.send({ type: 'rolled_back', node_id: command.node_id, ...to, is_restored: false })
  else if (isWrong && command.type === 'write_log')
    host.send({ type: 'log_written', phase_id: command.phase_id, ...to, digest: null })
  else host.answer(command)
}

/** A person does something about one of the stops; false if there is none. */
export function help(host: Host, dice: Dice): boolean {
  const { flow, facts, state, open } = host
  const stops = stopsOf({ flow, facts, state, waiting: open })
  const node_id = stops[dice(stops.length)]?.node_id
  if (node_id === undefined) return false
  const asked = open.find((one) => one.type === 'ask_human' && one.node_id === node_id)
  const principal = 'p'
  if (dice(6) === 0 && host.send({ type: 'skipped', node_id, principal, comment: 'c' })) {
    const left = open.filter((one) => one !== asked)
    open.splice(0, open.length, ...left)
    return true
  }
  if (asked === undefined) return host.send({ type: 'unblocked', node_id, principal })
  open.splice(open.indexOf(asked), 1)
  const said = (['retry', 'retry', 'abandon'] as const)[dice(3)] ?? 'retry'
  const { command } = asked
  return host.send({ type: 'human_answer', node_id, command, answer: said, principal })
}
