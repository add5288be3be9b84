/** Held calls of gh name what they change, and go to the host that they name. */
import { describe, expect, it } from 'vitest'
import { ghCall } from './gh-call.ts'

function call(line: string, GH_HOST?: string) {
  const variables: Record<string, string> = GH_HOST === undefined ? {} : { GH_HOST }
  const wish = { program: 'gh', argv: line.split(' '), inputs: [], trees: [] } as const
  return ghCall(wish, { variables })
}

describe('a held call of gh', () => {
  it.each([
    'pr merge --squash -R o/r',
    'pr merge feature -R o/r',
    'pr review -R o/r --approve',
    'pr close https://github.com/o/r/pull/7 -R o/r',
    'pr create -R o/r --title t --body b',
    'pr merge 7',
    'pr create --head fix --title t',
    'issue comment 1 -b x',
    'issue comment https://evil.example/o/r/issues/1 -b x',
    'issue edit 1 https://evil.example/o/r/issues/1 -R o/r -t x',
    'release delete v1',
    'label create x',
    'workflow run ci.yml',
    'workflow run ci.yml -R https://evil.example/o/r',
    'workflow run ci.yml -R git@evil.example:o/r',
    'pr merge 7 -R o/r --repo evil.example/o/r',
    'pr merge 7 -R o/r -R evil.example/o/r',
    'pr merge 7 -R x.github.com/o/r',
    'pr merge 7 -R api.acme.ghe.com/o/r',
    'pr merge 7 -R github.com./o/r',
    'pr merge 7 -R o/..',
    'pr merge 7 -R ../r',
    'api -X POST repos/{owner}/{repo}/merges',
    'api -X POST repos/:owner/:repo/merges',
    'api -X POST repos/o/r/merges -F head={branch}',
  ])('is refused if its words leave open what it changes: %s', async (line) => {
    await expect(call(line)).rejects.toThrow('cannot be held')
  })

  it('says what to type instead', async () => {
    await expect(call('pr merge')).rejects.toThrow('add `-R OWNER/REPO`')
    await expect(call('pr merge -R o/r')).rejects.toThrow('`gh pr merge NUMBER -R OWNER/REPO`')
    await expect(call('pr create -R o/r')).rejects.toThrow('add `--head BRANCH`')
  })

  it.each([
    ['pr merge 7 -R o/r', 'https://api.github.com/gh/pr/merge', 'github.com'],
    ['pr create --repo=o/r -H fix', 'https://api.github.com/gh/pr/create', 'github.com'],
    ['issue edit 1 #2 -R o/r -t x', 'https://api.github.com/gh/issue/edit', 'github.com'],
    ['issue reopen 1 -R o/.github', 'https://api.github.com/gh/issue/reopen', 'github.com'],
    ['issue comment 1 -R Git.Example/o/r', 'https://git.example/gh/issue/comment', 'git.example'],
    [
      'issue create -R=git.example:8443/o/r',
      'https://git.example:8443/gh/issue/create',
      'git.example:8443',
    ],
    [
      'api -X POST repos/o/r --hostname git.example',
      'https://git.example/repos/o/r',
      'git.example',
    ],
    ['api -X POST graphql -f query={owner}', 'https://api.github.com/graphql', 'github.com'],
  ])('goes to the host that it names: %s', async (line, url, host) => {
    const plan = await call(line)
    expect(plan.url).toBe(url)
    expect(plan.summary).toContain(host)
    expect(plan.lines.join('\n')).toContain(`by your gh on ${host}`)
    expect(plan.variables['GH_HOST']).toBe(host)
  })

  it('goes to the host that the person has set where it names none', async () => {
    const plan = await call('label delete x -R o/r', 'git.example')
    expect(plan.url).toBe('https://git.example/gh/label/delete')
    const named = await call('label delete x -R github.com/o/r', 'git.example')
    expect(named.variables['GH_HOST']).toBe('github.com')
  })
})
