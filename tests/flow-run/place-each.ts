/** The set-up of tests that each need a place of their own, and endpoints that end with the test. */
import { afterEach, beforeEach } from 'vitest'
import type { Endpoint } from './endpoints.ts'
import { RunPlace } from './place.ts'

/** Hands each test a new place; returns what opens an endpoint until the test ends. */
export function placeEach(
  name: string,
  take: (place: RunPlace) => void,
): (endpoint: Endpoint) => Promise<string> {
  const opened: Endpoint[] = []
  let place: RunPlace | null = null
  beforeEach(async () => {
    place = await new RunPlace(name).make()
    take(place)
  })
  afterEach(async () => {
    for (const endpoint of opened.splice(0)) await endpoint.close()
    await place?.remove()
  })
  return (endpoint) => {
    opened.push(endpoint)
    return endpoint.open()
  }
}
