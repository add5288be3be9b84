import { it } from 'vitest'
import { ConsolePlace, NARROW, startBrowser, WIDE } from './console-place.ts'

it('tries', async () => {
  const place = new ConsolePlace('try')
  try {
    console.log(
      JSON.stringify(place.writ(['propose', '--example', 'COMMAND_EXECUTION']).json, null, 1),
    )
    place.write('old/a.txt', 'one\n')
    place.write('old/b.txt', 'two\n')
    place.write('src/app.js', 'const a = 1\nconst b = 2\n')
    await place.serve()
    const browser = await startBrowser()
    const value = await place.propose(place.proposal('.env'))
    console.log(value.status)
    const c = place.command('rm -r old && echo "SECRET=1" > .env && sed -i s/1/3/ src/app.js', {
      create: [place.project + '/.env'],
      modify: [place.project + '/**'],
      delete: [place.project + '/old/**', place.project + '/old'],
    })
    const v2 = await place.propose(c).catch((e) => e.problem ?? e)
    console.log(JSON.stringify(v2).slice(0, 1500))
    const page = await place.open(browser)
    try {
      await page.goto(place.address)
      await page.waitForTimeout(1500)
      await page.screenshot({ path: '/tmp/s0.png' })
      await place.register(page)
      await page.waitForTimeout(1500)
      await page.screenshot({ path: '/tmp/s1.png' })
      await page.locator('.row').first().click()
      await page.waitForTimeout(4000)
      await page.screenshot({ path: '/tmp/s2.png' })
    } catch (e) {
      console.log(String(e).slice(0, 600))
      await page.screenshot({ path: '/tmp/sx.png' })
    }
    console.log(place.reports)
    await browser.close()
  } finally {
    await place.end()
    place.remove()
  }
}, 180000)
