/** Opens a browser session with a passkey; the first one is registered by passphrase or one-time code. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { KeyRound } from 'lucide-react'
import { type FormEvent, useEffect, useState } from 'react'
import { Form, Input, Label, TextField } from 'react-aria-components'
import { reads } from '../app/queries.ts'
import { logIn, register } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { Press } from '../parts/basics.tsx'
import { Choices } from '../parts/choices.tsx'
import { Found, Problem } from '../parts/found.tsx'
import { Coded } from '../parts/text.tsx'

function goInside(): void {
  window.location.assign('/')
}

export function LoginPage() {
  const say = useSay()
  const door = useQuery(reads.door())
  const [isNew, setNew] = useState(false)
  return (
    <main className="login">
      <div className="login-card">
        <h1 className="brand">writ</h1>
        <p className="quiet">{say('login.what')}</p>
        <Found query={door}>
          {({ passkeys }) =>
            passkeys && !isNew ? (
              <LogIn onNew={() => setNew(true)} />
            ) : (
              <Register
                onBegin={() => setNew(true)}
                onBack={passkeys ? () => setNew(false) : null}
              />
            )
          }
        </Found>
      </div>
      <Choices />
    </main>
  )
}

function LogIn({ onNew }: { readonly onNew: () => void }) {
  const say = useSay()
  const entering = useMutation({ mutationFn: logIn, onSuccess: goInside })
  return (
    <div className="stack">
      <p>{say('login.says')}</p>
      <Press look="main" autoFocus isPending={entering.isPending} onPress={() => entering.mutate()}>
        <KeyRound aria-hidden="true" /> {entering.isPending ? say('working') : say('login.act')}
      </Press>
      {entering.error !== null && <Problem error={entering.error} />}
      <Press look="quiet" onPress={onNew}>
        {say('login.new')}
      </Press>
    </div>
  )
}

const WAYS = ['passphrase', 'code', 'recovery_code'] as const
type Way = (typeof WAYS)[number]

interface RegisterProps {
  /** The form stays from here on: it has the recovery codes to show. */
  readonly onBegin: () => void
  readonly onBack: (() => void) | null
}

function Register({ onBegin, onBack }: RegisterProps) {
  const say = useSay()
  const [way, setWay] = useState<Way>('passphrase')
  const [secret, setSecret] = useState('')
  const [name, setName] = useState(() => say('register.default_name'))
  const adding = useMutation({
    // One of the three ways, by its name.
    mutationFn: () => register(name, { [way]: secret } as { readonly passphrase: string }),
    onSuccess: (codes) => codes === null && goInside(),
  })
  if (adding.data !== undefined && adding.data !== null)
    return <RecoveryCodes codes={adding.data} />
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    onBegin()
    adding.mutate()
  }
  return (
    <Form className="stack" onSubmit={submit}>
      <h2>{say('register.title')}</h2>
      <p>{say('register.says')}</p>
      <label className="field">
        {say('register.way')}
        <select
          value={way}
          onChange={(event) => setWay(WAYS.find((one) => one === event.target.value) ?? way)}
        >
          {WAYS.map((one) => (
            <option key={one} value={one}>
              {say(`register.${one}`)}
            </option>
          ))}
        </select>
      </label>
      <TextField className="field" type="password" value={secret} onChange={setSecret} isRequired>
        <Label>{say(`register.${way}`)}</Label>
        <Input autoComplete="off" />
      </TextField>
      {way === 'code' && (
        <p className="quiet">
          <Coded>{say('register.code_says')}</Coded>
        </p>
      )}
      <TextField className="field" value={name} onChange={setName} isRequired>
        <Label>{say('register.name')}</Label>
        <Input autoComplete="off" />
      </TextField>
      <Press look="main" type="submit" isPending={adding.isPending}>
        <KeyRound aria-hidden="true" /> {adding.isPending ? say('working') : say('register.act')}
      </Press>
      {adding.error !== null && <Problem error={adding.error} />}
      {onBack !== null && (
        <Press look="quiet" onPress={onBack}>
          {say('register.back')}
        </Press>
      )}
    </Form>
  )
}

function RecoveryCodes({ codes }: { readonly codes: readonly string[] }) {
  const say = useSay()
  const [isSaved, setSaved] = useState(false)
  // Leaving the page in any other way is asked about by the browser.
  useEffect(() => {
    if (isSaved) {
      goInside()
      return
    }
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [isSaved])
  return (
    <div className="stack">
      <h2>{say('recovery.title')}</h2>
      <p>{say('recovery.says')}</p>
      <ul className="recovery">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <Press look="main" onPress={() => setSaved(true)} autoFocus>
        {say('recovery.saved')}
      </Press>
    </div>
  )
}
