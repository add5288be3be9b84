/** What a session used, counted over its processes. */
import { describe, expect, it } from 'vitest'
import type { NetworkConnection } from '../contracts/index.ts'
import { NO_GATEWAY_USE } from '../gateway/index.ts'
import { leftOf, NO_USE, UseMeter } from './session-use.ts'

const WAY = { port: 443, bytes_sent: 10, bytes_received: 5 }

describe('the use of a session', () => {
  it('goes on from what earlier processes used, and gives each connection to one act', () => {
    const taken: NetworkConnection[][] = [
      [
        { ...WAY, host: 'a.example', outcome: 'passed' },
        { ...WAY, host: 'b.example', outcome: 'refused', code: 'network.host', count: 3 },
      ],
      [{ ...WAY, host: 'a.example', outcome: 'passed' }],
    ]
    const gateway = { ...NO_GATEWAY_USE, requests: 2, failures: 1, input: 100, output: 20, cost: 7 }
    const before = {
      ...NO_USE,
      model: { ...NO_USE.model, requests: 5, input_tokens: 1, cost_micros: 3 },
    }
    const meter = new UseMeter(
      before,
      () => gateway,
      () => taken.shift() ?? [],
    )
    expect(meter.total.network).toEqual([
      {
        host: 'a.example:443',
        passed: 1,
        refused: 0,
        failed: 0,
        bytes_sent: 10,
        bytes_received: 5,
      },
      {
        host: 'b.example:443',
        passed: 0,
        refused: 3,
        failed: 0,
        bytes_sent: 10,
        bytes_received: 5,
      },
    ])
    expect(meter.passed()).toHaveLength(2)
    expect(meter.passed()).toHaveLength(0)
    const { model, network } = meter.total
    expect(model).toMatchObject({ requests: 7, failures: 1, input_tokens: 101, output_tokens: 20 })
    expect(network[0]).toMatchObject({ host: 'a.example:443', passed: 2, bytes_sent: 20 })
    expect(model.cost_micros).toBe(10)
    expect(leftOf({ requests: 10, tokens: 100, cost: 15 }, { model, network })).toEqual({
      requests: 3,
      tokens: 0,
      cost: 5,
    })
  })

  it('does not grow with the names that an agent makes up', () => {
    const many = Array.from({ length: 250 }, (_, index): NetworkConnection => {
      return { ...WAY, host: `h${index}.example`, outcome: 'refused', code: 'network.host' }
    })
    const { network } = new UseMeter(
      NO_USE,
      () => NO_GATEWAY_USE,
      () => many.splice(0),
    ).total
    expect(network).toHaveLength(101)
    expect(network.at(-1)).toMatchObject({ host: 'other hosts', refused: 150 })
  })
})
