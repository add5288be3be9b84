/** A playground for rules of the request; nothing is kept and nothing is in force. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Input, Label, TextArea, TextField } from 'react-aria-components'
import { client } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { Badge, PageHead, Press, Section } from '../parts/basics.tsx'
import { Problem } from '../parts/found.tsx'
import { SaidLines } from '../parts/text.tsx'

const VERBS = ['check', 'eval', 'prove', 'diff'] as const
type Verb = (typeof VERBS)[number]

interface Asked {
  readonly rules: string
  readonly older: string
  readonly inputs: string
  readonly claim: 'never' | 'always'
  readonly verdict: string
  readonly when: string
}

const EMPTY: Asked = {
  rules: '',
  older: '',
  inputs: '{}',
  claim: 'never',
  verdict: 'ALLOW',
  when: '',
}

/** What a question needs besides the rules. */
const NEEDED: Readonly<Record<Verb, keyof Asked>> = {
  check: 'rules',
  eval: 'inputs',
  prove: 'verdict',
  diff: 'older',
}

export function RulesPage() {
  const say = useSay()
  const [asked, setAsked] = useState(EMPTY)
  const set = (part: Partial<Asked>): void => setAsked({ ...asked, ...part })
  const asking = useMutation({ mutationFn: (verb: Verb) => answerTo(verb, asked) })
  const isReady = (verb: Verb): boolean =>
    asked.rules.trim() !== '' && asked[NEEDED[verb]].trim() !== ''
  return (
    <div className="page">
      <PageHead title={say('rules.title')} />
      <p className="quiet">{say('rules.says')}</p>
      <div className="action-columns">
        <RuleText
          title={say('rules.text')}
          rows={16}
          value={asked.rules}
          onChange={(rules) => set({ rules })}
        />
        <div>
          <Section title={say('rules.inputs')}>
            <TextField
              value={asked.inputs}
              onChange={(inputs) => set({ inputs })}
              className="field"
            >
              <Label>{say('rules.inputs_says')}</Label>
              <TextArea rows={4} spellCheck="false" />
            </TextField>
          </Section>
          <Claim asked={asked} onSet={set} />
          <RuleText
            title={say('rules.older')}
            rows={5}
            value={asked.older}
            onChange={(older) => set({ older })}
          />
        </div>
      </div>
      <div className="buttons">
        {VERBS.map((verb) => (
          <Press key={verb} isDisabled={!isReady(verb)} onPress={() => asking.mutate(verb)}>
            {say(`rules.${verb}`)}
          </Press>
        ))}
      </div>
      {asking.error !== null && <Problem error={asking.error} />}
      {asking.data !== undefined && <Answer {...asking.data} />}
    </div>
  )
}

interface RuleTextProps {
  readonly title: string
  readonly rows: number
  readonly value: string
  readonly onChange: (text: string) => void
}

/** Rules that the person opens from a file, or types. */
function RuleText({ title, rows, value, onChange }: RuleTextProps) {
  const say = useSay()
  return (
    <Section title={title}>
      <label className="field">
        {say('rules.open')}
        <input
          type="file"
          accept=".json,.yaml,.yml"
          onChange={async (event) => {
            const file = event.target.files?.[0]
            if (file !== undefined) onChange(await file.text())
          }}
        />
      </label>
      <TextField value={value} onChange={onChange} className="field">
        <Label>{title}</Label>
        <TextArea rows={rows} spellCheck="false" />
      </TextField>
    </Section>
  )
}

const VERDICTS = ['ALLOW', 'DENY', 'UNDETERMINED']

/** What `prove` proves: that the rules never, or always, say a verdict. */
function Claim(props: { readonly asked: Asked; readonly onSet: (part: Partial<Asked>) => void }) {
  const say = useSay()
  const { asked, onSet } = props
  return (
    <Section title={say('rules.claim')}>
      <div className="buttons">
        <label className="field">
          {say('rules.claim_says')}
          <select
            value={asked.claim}
            onChange={({ target }) =>
              onSet({ claim: target.value === 'always' ? 'always' : 'never' })
            }
          >
            <option value="never">{say('rules.never')}</option>
            <option value="always">{say('rules.always')}</option>
          </select>
        </label>
        <label className="field">
          {say('rules.verdict')}
          <select value={asked.verdict} onChange={({ target }) => onSet({ verdict: target.value })}>
            {VERDICTS.map((verdict) => (
              <option key={verdict}>{verdict}</option>
            ))}
          </select>
        </label>
      </div>
      <TextField value={asked.when} onChange={(when) => onSet({ when })} className="field">
        <Label>{say('rules.when')}</Label>
        <Input spellCheck="false" />
      </TextField>
    </Section>
  )
}

interface Answered {
  /** Null where the answer is neither good nor bad. */
  readonly isGood: boolean | null
  readonly verb: Verb
  readonly answer: unknown
}

function Answer({ verb, isGood, answer }: Answered) {
  const say = useSay()
  return (
    <Section title={say('rules.answer')}>
      {isGood !== null && (
        <p role="status">
          <Badge tone={isGood ? 'low' : 'high'}>
            {say(isGood ? `rules.${verb}.yes` : `rules.${verb}.no`)}
          </Badge>
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long answers are scrolled by keys */}
      <pre className="output" tabIndex={0}>
        <SaidLines>{JSON.stringify(answer, null, 1)}</SaidLines>
      </pre>
    </Section>
  )
}

async function answerTo(verb: Verb, asked: Asked): Promise<Answered> {
  const { rules, older, inputs, claim, verdict, when } = asked
  if (verb === 'check') {
    const { value } = await client.checkRules({ body: { rulesets: [await rulesetOf(rules)] } })
    return { verb, isGood: value.accepted, answer: value }
  }
  if (verb === 'diff') {
    const { value } = await client.diffRules({ body: { old: older, new: rules } })
    return { verb, isGood: value.equal, answer: value.changes }
  }
  if (verb === 'prove') {
    const condition = when.trim() === '' ? {} : { when: when.trim() }
    const body = { rules: [rules], [claim]: verdict, ...condition }
    const { value } = await client.proveRules({ body })
    return { verb, isGood: value.proved, answer: value }
  }
  const body = {
    rulesets: [await rulesetOf(rules)],
    inputs: JSON.parse(inputs) as Record<string, unknown>, // An object, which the service checks.
  }
  const { value } = await client.evaluateRules({ body })
  return { verb, isGood: null, answer: value.verdicts }
}

/** The document of a text in JSON; the service turns YAML into it. */
async function rulesetOf(text: string): Promise<Record<string, unknown>> {
  const isJson = /^\s*[[{]/.test(text)
  const body = { rules: text, to: 'json' as const }
  const json = isJson ? text : String((await client.formatRules({ body })).value)
  return JSON.parse(json) as Record<string, unknown> // A document, which the service checks.
}
