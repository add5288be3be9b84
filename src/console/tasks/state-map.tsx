/** The map of states: the way of a task to its device and back, with how many tasks are where. */
import { useSay } from '../app/settings.tsx'
import { sayOf } from '../parts/basics.tsx'

/** The way from the issue to the receipt. */
const WAY = ['waiting', 'due', 'offered', 'claimed', 'started', 'answered'] as const
/** Where a task can end, or be late, without a receipt. */
const OFF_WAY = ['overdue', 'silent', 'unknown', 'withdrawn'] as const
/** No device carries it out. */
export const BY_PEOPLE = 'by_people'

interface MapProps {
  /** How many tasks are in a state. */
  readonly counts: ReadonlyMap<string, number>
  readonly chosen: string | null
  readonly onChoose: (state: string | null) => void
}

export function StateMap(props: MapProps) {
  const say = useSay()
  const boxes = (states: readonly string[]) =>
    states.map((state) => <StateBox key={state} {...props} state={state} />)
  return (
    <>
      <ol className="state-map state-way" aria-label={say('tasks.map_way')}>
        {boxes(WAY)}
      </ol>
      <ul className="state-map" aria-label={say('tasks.map_off')}>
        {boxes([...OFF_WAY, BY_PEOPLE])}
      </ul>
    </>
  )
}

function StateBox({ counts, chosen, onChoose, state }: MapProps & { readonly state: string }) {
  const say = useSay()
  const count = counts.get(state) ?? 0
  const isChosen = chosen === state
  return (
    <li data-empty={count === 0}>
      <button
        type="button"
        className="press state-box"
        aria-pressed={isChosen}
        disabled={count === 0}
        onClick={() => onChoose(isChosen ? null : state)}
      >
        <strong>{count}</strong> {sayOf(say, 'dispatch', state)}
      </button>
    </li>
  )
}
