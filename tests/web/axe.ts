/** What axe-core finds on a page, by the rules of WCAG 2.2 AA. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import type { Json } from '../cli-gate/place.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
const LOADED = `document.querySelector('.loading') === null`

/** Waits until nothing is loading any more. */
export async function loaded(page: Page): Promise<void> {
  await page.waitForFunction(LOADED, null, { timeout: 60_000 })
}

export async function findings(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE)
  return page.evaluate(async (tags) => {
    const axe = Reflect.get(globalThis, 'axe')
    const { violations } = await axe.run(Reflect.get(globalThis, 'document'), { runOnly: tags })
    return violations.map(
      (one: Json) =>
        `${one.id}: ${one.nodes.map((node: Json) => node.html.slice(0, 160)).join(' | ')}`,
    )
  }, TAGS)
}
