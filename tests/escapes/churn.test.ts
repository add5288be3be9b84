/** Sockets of the machine that come and go while sandboxes are opened: hidden or gone, never in the way. */
import { type ChildProcess, spawn } from 'node:child_process'
import { afterAll, describe, expect, it } from 'vitest'
import { drive, place, WHO } from '../sandbox/drive.ts'

const CHURN = `use Socket; $| = 1;
for (my $n = 0; ; $n++) {
  my $path = "$ARGV[0]/socket-" . ($n % 40);
  unlink $path;
  socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die; bind($s, sockaddr_un($path)) or die; listen($s, 1);
  $held[$n % 40] = $s;
  print "up\\n" if $n == 40;
  select undef, undef, undef, $n < 40 ? 0 : 0.25;
}`

const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})

async function churnIn(directory: string): Promise<void> {
  const child = spawn('perl', ['-e', CHURN, directory], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  await new Promise((resolve) => child.stdout?.once('data', resolve))
}

describe.each(WHO)('sandboxes opened by %s among sockets that come and go', (as) => {
  it('open and run', async () => {
    const root = place(as)
    const beside = place('root', '/opt')
    await churnIn(beside)
    for (let round = 0; round < 4; round++) {
      const { runs, failure } = await drive({ as, root, scripts: ['echo ok'] })
      expect(failure).toBe(null)
      expect(runs.map(({ stdout }) => stdout)).toEqual(['ok\n'])
    }
  })
})
