/** The document of a task, from what a person typed. */

export interface TaskParameter {
  readonly name: string
  readonly type: 'number' | 'boolean' | 'enum'
  readonly min?: number
  readonly max?: number
  readonly enum?: readonly string[]
}

export interface TaskForm {
  readonly type: string
  readonly kind: string
  readonly ref: string
  /** Carries the task out; empty when no device does. */
  readonly device: string
  readonly hours: string
  readonly values: Readonly<Record<string, string>>
}

export const DEFAULT_KEYS = JSON.stringify([{ name: 'depth_mm', type: 'number', min: 1, max: 50 }])

const HOUR_MS = 3_600_000

/** Null while the text is no list of parameters. */
export function readKeys(text: string): readonly TaskParameter[] | null {
  try {
    const keys = JSON.parse(text) as readonly TaskParameter[] // Looked at below.
    const isList = Array.isArray(keys) && keys.length > 0
    return isList &&
      keys.every(
        ({ name, type }) => typeof name === 'string' && /^(?:number|boolean|enum)$/.test(type),
      )
      ? keys
      : null
  } catch {
    return null
  }
}

interface Issuer {
  readonly kind: string
  readonly id: string
  readonly namespace: string
}

export function taskOf(form: TaskForm, keys: readonly TaskParameter[], issuer: Issuer) {
  const now = Date.now()
  const values = keys.map(({ name, type }) => {
    const text = form.values[name] ?? ''
    return [name, type === 'number' ? Number(text) : type === 'boolean' ? text === 'true' : text]
  })
  return {
    type: 'ao_act_task_v0',
    act_task_id: `task-${crypto.randomUUID()}`,
    issuer: { kind: issuer.kind, id: issuer.id, namespace: issuer.namespace },
    action_type: form.type,
    target: { kind: form.kind, ref: form.ref },
    time_window: { start_ts: now, end_ts: now + Number(form.hours) * HOUR_MS },
    parameter_schema: { keys },
    parameters: Object.fromEntries(values),
    constraints: {},
    created_at_ts: now,
    ...(form.device === '' ? {} : { meta: { device_id: form.device } }),
  }
}
