/** Registers homes of its own name, one after another. */
import { trustHome } from '../../src/home/trust.ts'

export interface TrustOrder {
  readonly root: string
  readonly name: string
  readonly count: number
}

// The test passes an order.
const { root, name, count } = JSON.parse(process.argv[2] ?? '') as TrustOrder
for (let index = 0; index < count; index++)
  trustHome(root, { path: `/${name}/${index}/.writ`, id: `${name}-${index}`, laws: '' })
