/**
 * A plugin for the bundler that leads imports past the doors of rooms to the files that hold the names.
 * Entering a room by its door sets up everything in the room; a command that needs three names of it
 * would wait for all. Doors hold lists of names and nothing else, and no file of a room does anything
 * but define, so nothing but time changes.
 */
import { readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'

const EXPORTS = /export (type )?\{([^}]*)\} from '([^']+)'/g
const IMPORTS = /^import (type )?\{([^}]*)\} from '(\.[^']*\/index\.ts)'/gm

export function doors() {
  const known = new Map()
  const namesOf = (door) => {
    if (!known.has(door)) known.set(door, readDoor(door))
    return known.get(door)
  }
  return {
    name: 'doors',
    setup(build) {
      build.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => ({
        contents: led(readFileSync(path, 'utf8'), path, namesOf),
        loader: 'ts',
      }))
    },
  }
}

/** Where each name of a door is defined, by the name that the door gives it. */
function readDoor(door) {
  const names = new Map()
  for (const [, isType, list, from] of readFileSync(door, 'utf8').matchAll(EXPORTS)) {
    if (isType !== undefined) continue
    for (const { name, as } of itemsOf(list)) {
      names.set(as, { file: resolve(dirname(door), from), name })
    }
  }
  return names
}

/** The names of a list without its types. */
function itemsOf(list) {
  return list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '' && !item.startsWith('type '))
    .map((item) => {
      const [name, as = name] = item.split(' as ')
      return { name, as }
    })
}

function led(text, path, namesOf) {
  return text.replaceAll(IMPORTS, (whole, isType, list, from) => {
    if (isType !== undefined) return whole
    const door = resolve(dirname(path), from)
    return itemsOf(list)
      .map(({ name, as }) => lineFor(found(name, door, namesOf), as, path))
      .join(';')
  })
}

/** A door may lead to another door. */
function found(name, door, namesOf) {
  const own = namesOf(door).get(name)
  if (own === undefined) return { name, file: door }
  return own.file.endsWith('index.ts') ? found(own.name, own.file, namesOf) : own
}

function lineFor({ name, file }, as, path) {
  const way = relative(dirname(path), file)
  return `import { ${name} as ${as} } from '${way.startsWith('.') ? way : `./${way}`}'`
}
