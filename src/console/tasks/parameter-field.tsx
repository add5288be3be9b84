/** One field of the form, by the type that the schema gives it. */
import { Input, Label, TextField } from 'react-aria-components'
import { visible } from '../../base/index.ts'
import type { TaskParameter } from './task-form.ts'

interface FieldProps {
  readonly parameter: TaskParameter
  readonly value: string
  readonly onChange: (value: string) => void
}

export function ParameterField({ parameter, value, onChange }: FieldProps) {
  const { name, type, min, max, enum: words = [] } = parameter
  const label = `${visible(name)}${min === undefined && max === undefined ? '' : ` (${min ?? ''}…${max ?? ''})`}`
  if (type === 'number') {
    return (
      <TextField className="field" value={value} onChange={onChange} isRequired>
        <Label>{label}</Label>
        <Input inputMode="decimal" />
      </TextField>
    )
  }
  const options = type === 'boolean' ? ['true', 'false'] : words
  return (
    <label className="field">
      {label}
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">–</option>
        {options.map((one) => (
          <option key={one} value={one}>
            {visible(one)}
          </option>
        ))}
      </select>
    </label>
  )
}
