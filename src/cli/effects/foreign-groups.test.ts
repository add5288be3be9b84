/** Directories of another group are found before anything runs, and the command names them. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { foreignGroups, foreignParents } from './foreign-groups.ts'

let root: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-groups-')))
  mkdirSync(join(root, 'own', 'deep'), { recursive: true })
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

/** The ids of a user to whom everything here belongs but for the group. */
function own(gid: number): { readonly uid: number; readonly gid: number } {
  return { uid: statSync(root).uid, gid }
}

it('says nothing where every directory has the group of the user', () => {
  expect(foreignGroups([root], own(statSync(root).gid))).toEqual([])
})

it('names the topmost directory of another group, and the command that helps', () => {
  const { gid } = statSync(root)
  const [only, ...others] = foreignGroups([root], own(gid + 1))
  expect(others).toEqual([])
  expect(only).toContain(`is of the group ${gid}`)
  expect(only).toMatch(new RegExp(`: chgrp -R ${gid + 1} ${root}$`))
  const [of] = foreignGroups([root], { uid: statSync(root).uid + 1, gid: gid + 1 })
  expect(of).toContain(`sudo chgrp -R ${gid + 1}`)
})

it('names directories of another group between the home and the scope, but not the home', () => {
  const { gid } = statSync(root)
  const scope = join(root, 'own', 'deep')
  const [only, ...others] = foreignParents([scope], own(gid + 1), root)
  expect(others).toEqual([])
  expect(only).toMatch(new RegExp(`: chgrp ${gid + 1} ${join(root, 'own')}$`))
  expect(foreignParents([scope], own(gid), root)).toEqual([])
  expect(foreignParents([scope], own(gid + 1), join(root, 'elsewhere'))).toEqual([])
})
