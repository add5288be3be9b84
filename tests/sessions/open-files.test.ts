/** A file that any thread of a session has open for writing does not become real (S-3). */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { SessionPlace } from './session-place.ts'

/** Opens a file in a thread with open files of its own; with `alone` the first thread ends before. */
const HOLDER = `
import ctypes, os, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
name, alone = sys.argv[1], len(sys.argv) > 2
def hold():
    if not alone: assert libc.unshare(0x400) == 0
    fd = os.open(name, os.O_CREAT | os.O_WRONLY)
    os.write(fd, b"half")
    open(name + ".ready", "w").close()
    time.sleep(60)
threading.Thread(target=hold).start()
if alone:
    while not os.path.exists(name + ".ready"): time.sleep(0.05)
    libc.syscall(93 if os.uname().machine == 'aarch64' else 60, 0)
time.sleep(60)
`

let place: SessionPlace
beforeEach(() => {
  place = new SessionPlace('open-files')
  place.commit({ 'a.txt': 'one\n', 'hold.py': HOLDER })
  place.init()
}, 180_000)
afterEach(() => place.remove())

it('looks at every thread, also after the first one ended', { timeout: 120_000 }, async () => {
  const agent = place.agentRun(['--settle', 'never'])
  await agent.does('python3 hold.py apart & python3 hold.py alone x & true')
  await agent.does(
    'until test -e apart.ready && test -e alone.ready; do sleep 0.1; done; sleep 0.5',
  )
  place.writ(['session', 'settle'])
  expect(place.has('apart.ready')).toBe(true)
  expect([place.has('apart'), place.has('alone')]).toEqual([false, false])
  await agent.does('kill %1 %2; sleep 0.2')
  place.writ(['session', 'settle'])
  expect([place.has('apart'), place.has('alone')]).toEqual([true, true])
  await agent.ends()
})
