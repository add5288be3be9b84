/** A playground for rules of the request; nothing is kept and nothing is in force. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Label, TextArea, TextField } from 'react-aria-components'
import { client } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { PageHead, Press, Section } from '../parts/basics.tsx'
import { Problem } from '../parts/found.tsx'
import { SaidLines } from '../parts/text.tsx'

type Verb = 'check' | 'eval' | 'prove' | 'diff'

export function RulesPage() {
  const say = useSay()
  const [rules, setRules] = useState('')
  const [other, setOther] = useState('{}')
  const asking = useMutation({ mutationFn: (verb: Verb) => answerTo(verb, rules, other) })
  return (
    <div className="page">
      <PageHead title={say('rules.title')} />
      <p className="quiet">{say('rules.says')}</p>
      <div className="action-columns">
        <Section title={say('rules.text')}>
          <OpenFile onText={setRules} />
          <TextField value={rules} onChange={setRules} className="field">
            <Label>{say('rules.text')}</Label>
            <TextArea rows={16} spellCheck="false" />
          </TextField>
        </Section>
        <Section title={say('rules.inputs')}>
          <TextField value={other} onChange={setOther} className="field">
            <Label>{say('rules.inputs_says')}</Label>
            <TextArea rows={16} spellCheck="false" />
          </TextField>
        </Section>
      </div>
      <div className="buttons">
        {(['check', 'eval', 'prove', 'diff'] as const).map((verb) => (
          <Press key={verb} isDisabled={rules.trim() === ''} onPress={() => asking.mutate(verb)}>
            {say(`rules.${verb}`)}
          </Press>
        ))}
      </div>
      {asking.error !== null && <Problem error={asking.error} />}
      {asking.data !== undefined && (
        <Section title={say('rules.answer')}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long answers are scrolled by keys */}
          <pre className="output" tabIndex={0}>
            <SaidLines>{JSON.stringify(asking.data, null, 1)}</SaidLines>
          </pre>
        </Section>
      )}
    </div>
  )
}

async function answerTo(verb: Verb, rules: string, other: string): Promise<unknown> {
  if (verb === 'check')
    return (await client.checkRules({ body: { rulesets: [JSON.parse(rules)] } })).value
  if (verb === 'diff') return (await client.diffRules({ body: { old: other, new: rules } })).value
  const inputs = JSON.parse(other) as Record<string, unknown> // An object, which the service checks.
  if (verb === 'prove')
    return (await client.proveRules({ body: { rules: [rules], ...inputs } })).value
  return (await client.evaluateRules({ body: { rulesets: [JSON.parse(rules)], inputs } })).value
}

function OpenFile({ onText }: { readonly onText: (text: string) => void }) {
  const say = useSay()
  return (
    <label className="field">
      {say('rules.open')}
      <input
        type="file"
        accept=".json,.yaml,.yml"
        onChange={async (event) => {
          const file = event.target.files?.[0]
          if (file !== undefined) onText(await file.text())
        }}
      />
    </label>
  )
}
