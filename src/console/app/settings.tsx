/** Language and colours: those of the browser unless the person chose others, which are kept here. */
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'
import { I18nProvider } from 'react-aria-components'
import { IntlProvider, useIntl } from 'react-intl'
import { en, type MessageKey } from '../words/en.ts'

type Language = 'en' | 'zh'
type Theme = 'system' | 'light' | 'dark'

interface Settings {
  readonly language: Language
  readonly theme: Theme
  readonly setLanguage: (language: Language) => void
  readonly setTheme: (theme: Theme) => void
}

const TAGS = { en: 'en-US', zh: 'zh-CN' }
type Catalogue = Readonly<Record<MessageKey, string>>

const SettingsContext = createContext<Settings | null>(null)

export function useSettings(): Settings {
  const settings = useContext(SettingsContext)
  if (settings === null) throw new Error('no settings around')
  return settings
}

function firstLanguage(): Language {
  const kept = localStorage.getItem('writ.language')
  if (kept === 'en' || kept === 'zh') return kept
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}

function firstTheme(): Theme {
  const kept = localStorage.getItem('writ.theme')
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

export function SettingsProvider({ children }: { readonly children: ReactNode }) {
  const [language, setLanguage] = useState(firstLanguage)
  const [theme, setTheme] = useState(firstTheme)
  const [messages, setMessages] = useState<Catalogue | null>(language === 'en' ? en : null)
  useEffect(() => {
    localStorage.setItem('writ.language', language)
    document.documentElement.lang = TAGS[language]
    if (language === 'en') setMessages(en)
    else void import('../words/zh.ts').then(({ zh }) => setMessages(zh))
  }, [language])
  useEffect(() => {
    localStorage.setItem('writ.theme', theme)
    document.documentElement.dataset['theme'] = theme
  }, [theme])
  if (messages === null) return null
  return (
    <SettingsContext value={{ language, theme, setLanguage, setTheme }}>
      <IntlProvider locale={TAGS[language]} messages={messages}>
        <I18nProvider locale={TAGS[language]}>{children}</I18nProvider>
      </IntlProvider>
    </SettingsContext>
  )
}

type Values = Readonly<Record<string, string | number>>
export type SayWords = (key: MessageKey, values?: Values) => string

/** Returns the words of a message in the person's language. */
export function useSay(): SayWords {
  const intl = useIntl()
  return (key, values) => intl.formatMessage({ id: key }, values)
}
