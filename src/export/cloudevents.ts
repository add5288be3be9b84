/** Facts as CloudEvents 1.0 in their JSON form. */
import type { ExportedEvent } from './event.ts'

export function cloudEvent(event: ExportedEvent, home: string): Readonly<Record<string, unknown>> {
  const { id, stream, at, type, action_id: action, task_id: task, run_id: run } = event
  const subject = action ?? task ?? run
  return {
    specversion: '1.0',
    id,
    source: `urn:${home.replaceAll('/', ':')}:${stream}`,
    type: `dev.writ.${type.replaceAll('_', '.')}`,
    time: at,
    ...(subject === undefined ? {} : { subject }),
    datacontenttype: 'application/json',
    data: event,
  }
}
