/**
 * Compares citations with the pages that define them: ids such as `C-3` with `spec/requirements.md`,
 * references such as `seed 003 §8` with `spec/seeds.md`. A function of texts, so that the tests can
 * seed a fault of every kind and see it found.
 */

export interface SpecificationPages {
  /** `spec/requirements.md` */
  readonly requirements: string
  /** `spec/seeds.md` */
  readonly seeds: string
  /** `docs/requirements.md` */
  readonly tests: string
}

interface Requirement {
  readonly isBuilt: boolean
  /** A clause has an anchor in a list; a requirement has a heading and tests. */
  readonly isClause: boolean
}

const ID = String.raw`(?:I\d|[ACDFGHKLMNSWX]-\d{1,2}[a-z]?)`
const IDS = new RegExp(String.raw`\b${ID}\b`, 'g')
const RANGES = new RegExp(String.raw`\b(${ID})(?: to |-|–)(${ID})\b`, 'g')
const SEEDS = /\bseed (\d{3})(?: §([0-9A-Z]+(?:\.\d+)?))?/gi
/** A section that the pattern above would miss. */
const LOOSE = /\bseed \d{3}(?:,? (?:part|section|§\d[^ ]* (?:and|to) §)|, (?:[A-E]\b|\d))/i
const CLAUSES = new RegExp(String.raw`<a id="([^"]*)"></a>\*\*(${ID})\b`, 'g')
/** It maps statements to requirements, which is no use of a requirement. */
const SEEDS_PAGE = 'spec/seeds.md'
const UNBUILT = '*Not yet built.*'

/** Returns every requirement and clause of the page. Fails if an id is defined twice. */
export function definedIds(page: string): ReadonlyMap<string, Requirement> {
  const defined = new Map<string, Requirement>()
  const define = (id: string, requirement: Requirement): void => {
    if (defined.has(id)) throw new Error(`${id} is defined twice`)
    defined.set(id, requirement)
  }
  for (const section of page.split(/^### /m).slice(1)) {
    const [heading = '', first = ''] = section.split('\n')
    const isBuilt = !first.startsWith(UNBUILT)
    define(heading.trim(), { isBuilt, isClause: false })
    for (const [, anchor = '', id = ''] of section.matchAll(CLAUSES)) {
      if (anchor !== id.toLowerCase()) throw new Error(`${id} has the anchor ${anchor}`)
      define(id, { isBuilt, isClause: true })
    }
  }
  return defined
}

/** Returns the ids that a text cites; a range cites every defined id between its ends. */
export function citedIds(text: string, defined: Iterable<string>): ReadonlySet<string> {
  const cited = new Set(text.match(IDS) ?? [])
  for (const [, from = '', to = ''] of text.matchAll(RANGES)) {
    for (const id of defined) if (isBetween(id, from, to)) cited.add(id)
  }
  return cited
}

function isBetween(id: string, from: string, to: string): boolean {
  const [one, low, high] = [placeOf(id), placeOf(from), placeOf(to)]
  const isClauses = low.clause !== '' && high.clause !== ''
  if (one.family !== low.family || one.family !== high.family) return false
  if (isClauses) {
    return one.number === low.number && one.clause >= low.clause && one.clause <= high.clause
  }
  return one.clause === '' && one.number >= low.number && one.number <= high.number
}

function placeOf(id: string): { family: string; number: number; clause: string } {
  const [, family = '', digits = '', clause = ''] = /^([A-Z])-?(\d+)([a-z]?)$/.exec(id) ?? []
  return { family, number: Number(digits), clause }
}

/** Returns every fault of the citations in `files`, one line each. */
export function citationFaults(
  files: ReadonlyMap<string, string>,
  pages: SpecificationPages,
): readonly string[] {
  const defined = definedIds(pages.requirements)
  const sections = new Set(
    [...pages.seeds.matchAll(/^##+ (seed .+)$/gm)].map(([, heading]) => heading),
  )
  const cited = new Set<string>()
  const faults: string[] = []
  for (const [path, raw] of files) {
    const text = withoutLineMarks(raw)
    for (const id of citedIds(text, defined.keys())) {
      if (path !== SEEDS_PAGE) cited.add(id)
      if (!defined.has(id)) faults.push(`${path}: ${id} has no text in spec/requirements.md`)
    }
    for (const [, seed = '', section] of text.matchAll(SEEDS)) {
      const heading = section === undefined ? `seed ${seed}` : `seed ${seed} §${section}`
      if (!sections.has(heading)) faults.push(`${path}: ${heading} has no heading in spec/seeds.md`)
    }
    const loose = LOOSE.exec(text)
    if (loose !== null) faults.push(`${path}: write \`${loose[0]}\` as seed NNN §M`)
  }
  return [...faults, ...coverageFaults(defined, cited, pages.tests), ...mapFaults(pages.seeds)]
}

/** Comments of several lines are one text. */
function withoutLineMarks(text: string): string {
  return text.replace(/\n[ \t]*(?:\*(?!\/)|\/\/|#)?[ \t]*/g, ' ')
}

function coverageFaults(
  defined: ReadonlyMap<string, Requirement>,
  cited: ReadonlySet<string>,
  tests: string,
): readonly string[] {
  const headings = [...tests.matchAll(/^### (.+)$/gm)].map(([, heading = '']) => heading)
  const tested = new Set(headings.flatMap((heading) => [...citedIds(heading, defined.keys())]))
  const faults: string[] = []
  for (const [id, { isBuilt, isClause }] of defined) {
    if (isBuilt && !cited.has(id)) faults.push(`${id} is cited nowhere`)
    if (isBuilt && !isClause && !tested.has(id)) {
      faults.push(`${id} has no tests in docs/requirements.md, and is not marked as not yet built`)
    }
    if (!isBuilt && tested.has(id)) faults.push(`${id} has tests and is marked as not yet built`)
  }
  return faults
}

/** Every statement of a source document leads to a requirement, or says why it leads to none. */
function mapFaults(seeds: string): readonly string[] {
  const statements = seeds.split('\n').filter((line) => line.startsWith('- '))
  return statements
    .filter((line) => !/ → (?:none: \S|\[\S+\]\(requirements\.md#)/.test(line))
    .map((line) => `spec/seeds.md: no requirement and no reason: ${line}`)
}
