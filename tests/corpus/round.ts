/** Many tasks over a few grounds of one user, a few at a time. */
import { TEST_USERS, type TestUser } from '../tree/users.ts'
import { Ground } from './ground.ts'

export { TEST_USERS, type TestUser }

/** What people call them. */
export const USER_NAMES: Readonly<Record<TestUser, string>> = {
  self: process.getuid?.() === 0 ? 'root' : 'user',
  ordinary: 'ordinary user',
}

export interface RoundOptions<R> {
  readonly parallel: number
  readonly onResult?: (result: R) => void
}

/** Each task is tried once, on the ground that is free first. */
export async function tryAll<T extends { readonly id: string }, R>(
  user: TestUser,
  tasks: readonly T[],
  attempt: (ground: Ground, task: T) => Promise<R>,
  { parallel, onResult = () => undefined }: RoundOptions<R>,
): Promise<readonly R[]> {
  const results = new Map<string, R>()
  const waiting = [...tasks]
  const work = async (): Promise<void> => {
    const ground = await Ground.open(user)
    try {
      for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
        const result = await attempt(ground, task)
        results.set(task.id, result)
        onResult(result)
      }
    } finally {
      ground.close()
    }
  }
  await Promise.all(Array.from({ length: parallel }, work))
  return tasks.flatMap(({ id }) => {
    const result = results.get(id)
    return result === undefined ? [] : [result]
  })
}
