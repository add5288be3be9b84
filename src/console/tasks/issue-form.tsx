/** Issues a task: the schema of its parameters comes first, and the fields of the form follow from it. */
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { Input, Label, TextArea, TextField } from 'react-aria-components'
import { reads } from '../app/queries.ts'
import { proven } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { AskDialog } from '../parts/ask-dialog.tsx'
import { ParameterField } from './parameter-field.tsx'
import { DEFAULT_KEYS, readKeys, type TaskForm, type TaskParameter, taskOf } from './task-form.ts'

const TYPES = ['PLOW', 'HARROW', 'SEED', 'SPRAY', 'IRRIGATE', 'TRANSPORT', 'HARVEST']
const KINDS = ['field', 'area', 'path']

export function IssueForm({ onClose }: { readonly onClose: () => void }) {
  const say = useSay()
  const me = useQuery(reads.me())
  const [form, setForm] = useState<TaskForm>({
    type: 'IRRIGATE',
    kind: 'field',
    ref: '',
    device: '',
    hours: '4',
    values: {},
  })
  const [schema, setSchema] = useState(DEFAULT_KEYS)
  const keys = useMemo<readonly TaskParameter[] | null>(() => readKeys(schema), [schema])
  const set = (part: Partial<TaskForm>): void => setForm({ ...form, ...part })
  const issue = async (): Promise<unknown> => {
    if (me.data === undefined || keys === null) throw new TypeError('not ready')
    return proven('issueTask', { body: { task: taskOf(form, keys, me.data.principal) } })
  }
  return (
    <AskDialog
      title={say('tasks.issue')}
      action={say('with_passkey')}
      isReady={keys !== null && form.ref !== '' && me.data !== undefined}
      act={issue}
      onClose={onClose}
    >
      <Choice
        label={say('tasks.type')}
        value={form.type}
        options={TYPES}
        onChange={(type) => set({ type })}
      />
      <Choice
        label={say('tasks.target')}
        value={form.kind}
        options={KINDS}
        onChange={(kind) => set({ kind })}
      />
      <TextField className="field" value={form.ref} onChange={(ref) => set({ ref })} isRequired>
        <Label>{say('tasks.ref')}</Label>
        <Input />
      </TextField>
      <TextField className="field" value={form.device} onChange={(device) => set({ device })}>
        <Label>{say('tasks.for_device')}</Label>
        <Input spellCheck="false" />
      </TextField>
      <TextField className="field" value={form.hours} onChange={(hours) => set({ hours })}>
        <Label>{say('tasks.hours')}</Label>
        <Input inputMode="numeric" />
      </TextField>
      <TextField className="field" value={schema} onChange={setSchema} isInvalid={keys === null}>
        <Label>{say('tasks.schema')}</Label>
        <TextArea rows={4} spellCheck="false" />
      </TextField>
      {keys === null && <p className="warns">{say('tasks.schema_bad')}</p>}
      {keys?.map((key) => (
        <ParameterField
          key={key.name}
          parameter={key}
          value={form.values[key.name] ?? ''}
          onChange={(value) => set({ values: { ...form.values, [key.name]: value } })}
        />
      ))}
    </AskDialog>
  )
}

function Choice(props: {
  readonly label: string
  readonly value: string
  readonly options: readonly string[]
  readonly onChange: (value: string) => void
}) {
  return (
    <label className="field">
      {props.label}
      <select value={props.value} onChange={(event) => props.onChange(event.target.value)}>
        {props.options.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </label>
  )
}
