/** docs/tasks.md: its receipt is the example file, and the commands take a task from issue to receipt. */
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Place } from '../cli-gate/place.ts'

const PAGE = readFileSync('docs/tasks.md', 'utf8')
const EXAMPLE = readFileSync('examples/documents/receipt.json', 'utf8')

let place: Place
beforeAll(() => {
  place = new Place('tasks', { runs: 'warm' })
  symlinkSync(join(process.cwd(), 'examples'), join(place.project, 'examples'))
}, 180_000)
afterAll(() => place?.remove())

/** Returns the words after `writ` of the one command on the page that begins so. */
function words(start: string, id = ''): readonly string[] {
  const found = [...PAGE.matchAll(/^\$ (?:WRIT_TOKEN=writ_… )?writ (.+)$/gm)]
    .map(([, text = '']) => text)
    .filter((text) => text.startsWith(start))
  expect(found, start).toHaveLength(1)
  return (found[0] ?? '').replace('act-…', id).split(' ')
}

it('shows the receipt of the examples', () => {
  const [, shown = ''] = /```json\n([\s\S]*?)```/.exec(PAGE) ?? []
  expect(JSON.parse(shown)).toEqual(JSON.parse(EXAMPLE))
})

it('takes a task from issue to receipt', () => {
  expect(place.writ(words('init')).status).toBe(0)
  const issued = place.writ(words('task issue'))
  expect(issued.status, issued.out).toBe(0)
  const id: string = issued.json.act_task_id
  expect(place.writ(words('task issue')).json.act_task_id).toBe(id)
  expect(place.writ(words('principal add')).status).toBe(0)
  const { token } = place.writ(words('token create')).json
  expect(place.writ(words('task list --open'), { token }).json.tasks).toHaveLength(1)
  place.write('receipt.json', EXAMPLE.replace('TASK_ID', id))
  const submitted = place.writ(words('receipt submit'), { token })
  expect(submitted.status, submitted.out).toBe(0)
  const listed = place.writ(words('task list --home'))
  expect(listed.out).toMatch(/IRRIGATE +1 +executed/)
  expect(place.writ(words('task show', id)).status).toBe(0)
}, 60_000)
