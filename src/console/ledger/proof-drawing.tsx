/** The proof of a fact, drawn: from the fact below to the signed root above. */
import { useSay } from '../app/settings.tsx'
import type { FactCheck } from './check.ts'

const [STEP, BOX, WIDTH, GAP] = [58, 26, 132, 8]
const SHOWN_DIGITS = 12

interface BoxProps {
  readonly x: number
  readonly y: number
  readonly hash: string
  readonly words: string
  readonly kind: 'made' | 'given' | 'root'
}

function HashBox({ x, y, hash, words, kind }: BoxProps) {
  return (
    <g className={`proof-${kind}`}>
      <rect x={x - WIDTH / 2} y={y} width={WIDTH} height={BOX} rx={5} />
      <text x={x} y={y + BOX / 2 + 4} textAnchor="middle" className="proof-hash">
        {hash.slice(0, SHOWN_DIGITS)}
      </text>
      {words !== '' && (
        <text x={x} y={y + BOX + 13} textAnchor="middle">
          {words}
        </text>
      )}
    </g>
  )
}

export function ProofDrawing({ check }: { readonly check: FactCheck }) {
  const say = useSay()
  const { seq, leaf, steps, size, signedBy, isProven } = check
  // The computed hash of each step is drawn in the middle of the two that it was made of.
  let x = 0
  const places = [0]
  for (const { side } of steps) {
    x += ((side === 'right' ? 1 : -1) * (WIDTH + GAP)) / 2
    places.push(x)
  }
  const givenAt = steps.map(
    ({ side }, index) => (places[index] ?? 0) + (side === 'right' ? 1 : -1) * (WIDTH + GAP),
  )
  const all = [...places, ...givenAt]
  const [left, right] = [Math.min(...all) - WIDTH / 2 - 4, Math.max(...all) + WIDTH / 2 + 4]
  const height = (steps.length + 1) * STEP
  const yOf = (level: number): number => height - (level + 1) * STEP + 4
  const words = say('proof.says', { count: steps.length, size, names: signedBy.join(', ') })
  return (
    <figure className="proof">
      <figcaption className="quiet">{words}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a tall drawing is scrolled by keys */}
      <section className="scroll" tabIndex={0} aria-label={say('proof.label', { seq })}>
        <svg
          viewBox={`${left} 0 ${right - left} ${height}`}
          width={right - left}
          height={height}
          role="img"
          aria-label={words}
        >
          {steps.map(({ side, given }, level) => (
            <g key={given}>
              {[places[level] ?? 0, givenAt[level] ?? 0].map((from) => (
                <line
                  key={from}
                  x1={from}
                  y1={yOf(level)}
                  x2={places[level + 1]}
                  y2={yOf(level + 1) + BOX}
                />
              ))}
              <HashBox
                x={givenAt[level] ?? 0}
                y={yOf(level)}
                hash={given}
                words={say(`proof.${side}`)}
                kind="given"
              />
            </g>
          ))}
          {places.map((at, level) => (
            <HashBox
              // biome-ignore lint/suspicious/noArrayIndexKey: levels keep their places
              key={level}
              x={at}
              y={yOf(level)}
              hash={level === 0 ? leaf : (steps[level - 1]?.made ?? '')}
              words={wordsAt(level)}
              kind={level === steps.length && isProven ? 'root' : 'made'}
            />
          ))}
        </svg>
      </section>
    </figure>
  )

  function wordsAt(level: number): string {
    if (level === steps.length) return say(isProven ? 'proof.root' : 'proof.no_root')
    return level === 0 ? say('proof.fact', { seq }) : ''
  }
}
