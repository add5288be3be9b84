/**
 * Simulates a fleet with 10,000 places on one PostgreSQL server, for `docs/scale.md`: what gives first
 * at 10 million runs a day. Nothing is measured here; what each step
 * takes are the figures of `INPUTS`, which come from `bench/results`. `node bench/scale-simulation.mjs`
 * prints the table.
 *
 * A run takes a place, commits some times with work in between, and gives the place back. A commit waits
 * for a processor of the server, and for the turn of its stream; drafts of one process that wait for the
 * same stream share a turn, as the sequencer does it.
 */

export const INPUTS = {
  places: 10_000,
  /** Of a run with one participant: `bench/results/fleet.json`, and the facts that it leaves. */
  commits: 8,
  facts: 25,
  serverMs: 13,
  workMs: 1_000,
  /** Assumed of a turn of a shared stream where cores are free; two busy cores gave 18 (`ledger-postgres.json`). */
  turnMs: 4,
  /** Of each fact in a turn: the same results. */
  factMs: 1_000 / 6_121,
}

const SECONDS = 30
/** Runs that begin before it, or too late to end, do not count. */
const WARM_SECONDS = 5
const LAST_SECONDS = 3

const CASES = [
  { rate: 20, streams: 1, processes: 500, cores: 8 },
  { rate: 116, streams: 1, processes: 500, cores: 8 },
  { rate: 116, streams: 1, processes: 50, cores: 8 },
  { rate: 116, streams: 8, processes: 500, cores: 8 },
  { rate: 580, streams: 8, processes: 500, cores: 16 },
  { rate: 580, streams: 8, processes: 50, cores: 16 },
  { rate: 580, streams: 64, processes: 500, cores: 16 },
  { rate: 580, streams: 64, processes: 500, cores: 8 },
]

/** Returns a number between 0 and 1, the same ones for the same seed. */
function numbers(seed) {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** What happens next, by its time: a heap. */
class Agenda {
  #heap = []

  add(at, act) {
    const heap = this.#heap
    heap.push({ at, act })
    for (let index = heap.length - 1; index > 0; ) {
      const parent = (index - 1) >> 1
      if (heap[parent].at <= heap[index].at) break
      ;[heap[parent], heap[index]] = [heap[index], heap[parent]]
      index = parent
    }
  }

  take() {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (heap.length > 0) heap[0] = last
    for (let index = 0; ; ) {
      const [left, right] = [2 * index + 1, 2 * index + 2]
      let least = index
      if (left < heap.length && heap[left].at < heap[least].at) least = left
      if (right < heap.length && heap[right].at < heap[least].at) least = right
      if (least === index) return first
      ;[heap[least], heap[index]] = [heap[index], heap[least]]
      index = least
    }
  }

  get size() {
    return this.#heap.length
  }
}

/** So many at a time, the others in the order of asking. */
class Places {
  busyMs = 0
  #free
  #waiting = []

  constructor(count) {
    this.#free = count
  }

  ask(begin) {
    if (this.#free > 0) {
      this.#free--
      begin()
    } else this.#waiting.push(begin)
  }

  done(ms) {
    this.busyMs += ms
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}

export function simulate({ rate, streams, processes, cores }, inputs = INPUTS, seed = 20261119) {
  const random = numbers(seed)
  const exponential = (mean) => -mean * Math.log(1 - random())
  const agenda = new Agenda()
  const server = new Places(cores)
  const turns = Array.from({ length: streams }, () => new Places(1))
  const each = inputs.places / processes
  const places = Array.from({ length: processes }, () => new Places(each))
  /** Commits of a process that wait for a turn of its stream. */
  const drafts = new Map()
  const overheads = []
  const endMs = SECONDS * 1_000
  const isCounted = (arrived) =>
    arrived > WARM_SECONDS * 1_000 && arrived < endMs - LAST_SECONDS * 1_000
  let now = 0
  let begun = 0

  const commit = (process, then) => {
    const cost = inputs.serverMs / inputs.commits
    server.ask(() =>
      agenda.add(now + cost, () => {
        server.done(cost)
        const waiting = drafts.get(process)
        if (waiting !== undefined) return waiting.push(then)
        drafts.set(process, [then])
        turn(process)
      }),
    )
  }
  const turn = (process) => {
    const stream = turns[process % streams]
    stream.ask(() => {
      const batch = drafts.get(process)
      drafts.delete(process)
      const facts = batch.length * (inputs.facts / inputs.commits)
      const takes = inputs.turnMs + facts * inputs.factMs
      agenda.add(now + takes, () => {
        stream.done(takes)
        for (const then of batch) then()
      })
    })
  }
  const run = (process, arrived) => {
    let left = inputs.commits
    const step = () => {
      if (left-- > 0) {
        agenda.add(now + inputs.workMs / inputs.commits, () => commit(process, step))
        return
      }
      if (isCounted(arrived)) overheads.push(now - arrived - inputs.workMs)
      places[process].done(now - arrived)
    }
    step()
  }
  const arrive = () => {
    const process = Math.floor(random() * processes)
    const arrived = now
    if (isCounted(arrived)) begun++
    places[process].ask(() => run(process, arrived))
    agenda.add(now + exponential(1_000 / rate), arrive)
  }

  agenda.add(0, arrive)
  while (agenda.size > 0) {
    const next = agenda.take()
    if (next.at > endMs) break
    now = next.at
    next.act()
  }
  overheads.sort((one, other) => one - other)
  const at = (part) => overheads[Math.floor(overheads.length * part)] ?? Number.NaN
  const busiest = Math.max(...turns.map(({ busyMs }) => busyMs))
  return {
    ended: overheads.length / begun,
    p50: at(0.5),
    p99: at(0.99),
    turn: busiest / endMs,
    server: server.busyMs / (endMs * cores),
  }
}

if (import.meta.url === `file://${process.argv[1]}`) {
  const percent = (part) => `${Math.round(part * 100)} %`
  const heads = [
    'runs/s',
    'streams',
    'processes',
    'server cores',
    'ended in time',
    'added to a run, p50',
    'p99',
  ]
  console.log(`| ${[...heads, 'busiest stream', 'server'].join(' | ')} |`)
  console.log(`|${' --- |'.repeat(heads.length + 2)}`)
  for (const one of CASES) {
    const { ended, p50, p99, turn, server } = simulate(one)
    const times = [p50, p99].map((ms) => (Number.isNaN(ms) ? '—' : `${Math.round(ms)} ms`))
    const cells = [one.rate, one.streams, one.processes, one.cores, percent(ended), ...times]
    console.log(`| ${[...cells, percent(turn), percent(server)].join(' | ')} |`)
  }
}
