/**
 * The console in Chromium (W-4): how long until Approve can be pressed, next to a bare React page under the
 * same throttling, and what a frame costs while 10,000 questions or 100,000 facts are scrolled through. The
 * lists are answers of the service, repeated: the page is what is measured.
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { build } from 'esbuild'
import { chromium } from 'playwright-core'
import { notRun, row } from './measure.mjs'

export const title = 'console'

const WRIT = resolve('bin/writ.cjs')
const PASSPHRASE = 'correct horse battery staple'
const THROTTLING = 4
const TURNS = 9
const QUESTIONS = 10_000
const FACTS = 100_000
const FRAME_MS = 8
const TASK_MS = 50
const SCROLLS = 120

export async function measure() {
  const top = mkdtempSync(join(tmpdir(), 'writ-bench-console-'))
  const folder = join(top, 'project')
  mkdirSync(folder)
  const env = { ...process.env, HOME: top, XDG_STATE_HOME: join(top, 'state') }
  const writ = (args) =>
    execFileSync(process.execPath, [WRIT, ...args], { cwd: folder, env, stdio: 'pipe' })
  writeFileSync(join(top, 'pass'), `${PASSPHRASE}\n`)
  execFileSync(
    'sh',
    ['-c', `"$0" "$1" init --name ann --pass-fd 3 3<../pass`, process.execPath, WRIT],
    {
      cwd: folder,
      env,
    },
  )
  try {
    writ(['exec', '--', 'sh', '-c', 'echo 1 > a.txt; echo K=1 > .env'])
  } catch {
    // The command ends with the status of a question that waits.
  }
  const service = spawn(process.execPath, [WRIT, 'serve', '--json', '--listen', '127.0.0.1:0'], {
    cwd: folder,
    env,
  })
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  })
  const bare = await bareServer()
  try {
    const line = await new Promise((done) => service.stdout.once('data', done))
    const { console: address } = JSON.parse(String(line))
    const page = await registered(browser, address)
    return [
      await untilApprove(page, address, bare.address),
      ...(await scrolled(page, `${address}/`, manyQuestions, 'the inbox', QUESTIONS)),
      ...(await scrolled(page, `${address}/ledger`, manyFacts, 'the ledger', FACTS)),
    ]
  } finally {
    await browser.close()
    bare.close()
    service.kill('SIGTERM')
    await new Promise((done) => service.once('exit', done))
    rmSync(top, { recursive: true, force: true })
  }
}

async function registered(browser, address) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  const cdp = await context.newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  await page.goto(address)
  await page.getByLabel('Passphrase of this home').last().fill(PASSPHRASE)
  await page.getByRole('button', { name: 'Register the passkey' }).click()
  await page.getByRole('button', { name: 'I saved them' }).click()
  await page.locator('.row').first().waitFor()
  return page
}

/**
 * A page that is React, React DOM and one button, with what the console's server does for its pages: files
 * packed and kept by the browser, and one answer asked for, without which nothing can be approved.
 */
async function bareServer() {
  const { outputFiles } = await build({
    stdin: {
      contents: `import { createElement, useState } from 'react'; import { createRoot } from 'react-dom/client'
const asked = fetch('/answer').then((answer) => answer.json())
function Page() { const [count, set] = useState(0); return createElement('button', { onClick: () => set(count + 1) }, 'Approve') }
asked.then(() => createRoot(document.getElementById('root')).render(createElement(Page)))`,
      resolveDir: process.cwd(),
    },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  const html = '<!doctype html><div id="root"></div><script type="module" src="/a.js"></script>'
  const script = brotliCompressSync(outputFiles[0].contents)
  const kept = { 'content-encoding': 'br', 'cache-control': 'public, max-age=31536000, immutable' }
  const answers = new Map([
    ['/', [{ 'content-type': 'text/html', 'cache-control': 'no-cache' }, html]],
    ['/a.js', [{ 'content-type': 'text/javascript', ...kept }, script]],
    ['/answer', [{ 'content-type': 'application/json', 'cache-control': 'no-store' }, '{}']],
  ])
  const server = createServer(({ url }, answer) => {
    const [headers, body] = answers.get(url) ?? [{}, '']
    answer.writeHead(body === '' ? 404 : 200, headers)
    answer.end(body)
  })
  await new Promise((done) => server.listen(0, '127.0.0.1', done))
  return {
    address: `http://127.0.0.1:${server.address().port}/`,
    close: () => server.close(),
  }
}

/** Milliseconds from the start of the navigation until a button Approve can be pressed, the median. */
async function untilApprove(page, address, bare) {
  await page.locator('.row').first().click()
  await page.getByRole('toolbar').waitFor()
  const question = page.url()
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: THROTTLING })
  await page.addInitScript(() => {
    const look = () => {
      const button = [...document.querySelectorAll('button')].find(
        (one) => one.textContent.includes('Approve') && !one.disabled,
      )
      if (button === undefined) requestAnimationFrame(look)
      else globalThis.readyAt ??= performance.now()
    }
    requestAnimationFrame(look)
  })
  const times = { ours: [], theirs: [] }
  for (let turn = 0; turn < TURNS; turn += 1) {
    times.ours.push(await readyAt(page, question))
    times.theirs.push(await readyAt(page, bare))
  }
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 })
  await page.goto(address)
  const [ours, theirs] = [median(times.ours), median(times.theirs)]
  const what = 'pages per second until Approve can be pressed, 4x throttled'
  return row(what, 'question page', 1000 / ours, 'bare React page', 1000 / theirs, 1 / 1.5)
}

async function readyAt(page, address) {
  await page.goto(address)
  await page.waitForFunction(() => globalThis.readyAt !== undefined, null, { polling: 50 })
  return page.evaluate(() => globalThis.readyAt)
}

function median(values) {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)]
}

/** What the service answers when the page is loaded again. */
async function answerTo(page, address) {
  const asked = page.waitForResponse(address)
  await page.reload()
  return (await asked).json()
}

async function manyQuestions(page) {
  const { questions } = await answerTo(page, /\/v1\/questions\?/)
  await page.route('**/v1/questions?*', async (route) => {
    const { searchParams } = new URL(route.request().url())
    const [from, limit] = ['from', 'limit'].map((name) => Number(searchParams.get(name)))
    const many = Array.from({ length: Math.min(limit, QUESTIONS - from) }, (_, index) => ({
      ...questions[0],
      id: `${questions[0].id.slice(0, 4)}${from + index}`,
    }))
    await route.fulfill({ json: { questions: many, total: QUESTIONS } })
  })
}

async function manyFacts(page) {
  const address = new URL('/ledger', page.url()).href
  const asked = page.waitForResponse(/\/v1\/streams\/main\/facts/)
  await page.goto(address)
  const main = page.getByRole('region', { name: 'main' })
  await main.getByRole('button', { name: 'Facts' }).click()
  const { facts } = await (await asked).json()
  await page.route('**/v1/streams/main/facts*', async (route) => {
    const { searchParams } = new URL(route.request().url())
    const from = Number(searchParams.get('after') ?? FACTS)
    const many = Array.from({ length: 50 }, (_, index) => ({ ...facts[0], seq: from - 1 - index }))
    await route.fulfill({ json: { facts: many, next: from - 50 } })
  })
}

/** Scrolls by the wheel, and reads from the browser what each step cost the page. */
async function scrolled(page, address, feed, name, size) {
  await feed(page)
  await page.goto(address)
  if (name === 'the ledger') {
    const main = page.getByRole('region', { name: 'main' })
    await main.getByRole('button', { name: 'Facts' }).click()
    await page.locator('.fact').nth(20).waitFor()
  } else await page.locator('.row').nth(5).waitFor()
  await page.mouse.move(700, 500)
  await page.waitForTimeout(1_000)
  const { costs, longest } = await stepCosts(page)
  const rows = await page.locator('.row, .fact').count()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  const p95 = costs.toSorted((left, right) => left - right)[Math.floor(costs.length * 0.95)]
  const [frame, task] = [
    'frames per second at p95 of script and layout',
    'tasks per second at the longest task',
  ]
  const entries = `${size} entries`
  return [
    p95 > 0
      ? row(`${frame}, ${name}`, entries, 1000 / p95, `limit ${FRAME_MS} ms`, 1000 / FRAME_MS, 1)
      : notRun(`${frame}, ${name}`, 'the browser reported no work'),
    row(`${task}, ${name}`, entries, 1000 / longest, `limit ${TASK_MS} ms`, 1000 / TASK_MS, 1),
    row(`a row of the page, ${name}`, `${rows} rows`, 1 / rows, 'limit 100', 1 / 100, 1),
  ]
}

/**
 * Milliseconds of script, style and layout that each step of the wheel caused, which is at least what one
 * frame did; and the longest task, or where none took 50 ms all tasks of the busiest step.
 */
async function stepCosts(page) {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Performance.enable')
  await page.evaluate(() => {
    globalThis.longTasks = []
    new PerformanceObserver((list) =>
      globalThis.longTasks.push(...list.getEntries().map(({ duration }) => duration)),
    ).observe({ type: 'longtask' })
  })
  const spent = async () => {
    const { metrics } = await cdp.send('Performance.getMetrics')
    const of = (name) => 1000 * metrics.find((one) => one.name === name).value
    return {
      work: of('ScriptDuration') + of('RecalcStyleDuration') + of('LayoutDuration'),
      tasks: of('TaskDuration'),
    }
  }
  const [costs, tasks] = [[], []]
  for (let turn = 0; turn < SCROLLS; turn += 1) {
    const before = await spent()
    await page.mouse.wheel(0, 400)
    await page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    )
    const after = await spent()
    costs.push(after.work - before.work)
    tasks.push(after.tasks - before.tasks)
  }
  const long = await page.evaluate(() => globalThis.longTasks)
  await cdp.detach()
  const longest = long.length > 0 ? Math.max(...long) : Math.min(TASK_MS, Math.max(...tasks))
  return { costs, longest }
}
