/**
 * Settings of package managers without their secrets (G-10b). The sandbox hides the settings files,
 * because they also hold tokens. The keys of an allow-list are passed as environment variables that the
 * same programs read. A value with a login in it, or one that refers to a variable, is left out.
 */

const SAFE_NPM_KEYS: ReadonlySet<string> = new Set([
  'registry',
  'cafile',
  'strict-ssl',
  'engine-strict',
  'legacy-peer-deps',
  'package-lock',
  'prefer-offline',
  'save-exact',
  'save-prefix',
])
const SCOPED_REGISTRY = /^@[a-z0-9][a-z0-9._-]*:registry$/i

const SAFE_PIP_KEYS: Readonly<Record<string, string>> = {
  'index-url': 'PIP_INDEX_URL',
  'extra-index-url': 'PIP_EXTRA_INDEX_URL',
  'trusted-host': 'PIP_TRUSTED_HOST',
  cert: 'PIP_CERT',
}

const SAFE_YARN_KEYS: Readonly<Record<string, string>> = {
  npmRegistryServer: 'YARN_NPM_REGISTRY_SERVER',
  enableStrictSsl: 'YARN_ENABLE_STRICT_SSL',
}

type Variables = Readonly<Record<string, string>>

/** Of `~/.npmrc`. */
export function npmSettings(text: string): Variables {
  return gathered(text, /^\s*([^\s=;#]+)\s*=\s*(.*?)\s*$/, (key) =>
    SAFE_NPM_KEYS.has(key) || SCOPED_REGISTRY.test(key)
      ? `npm_config_${key.startsWith('@') ? key : key.replaceAll('-', '_')}`
      : null,
  )
}

/** Of `pip.conf`, in whichever section. */
export function pipSettings(text: string): Variables {
  return gathered(text, /^\s*([a-z-]+)\s*[=:]\s*(.*?)\s*$/, (key) => SAFE_PIP_KEYS[key] ?? null)
}

/** Of `~/.yarnrc.yml`, at its top level. */
export function yarnSettings(text: string): Variables {
  return gathered(text, /^([A-Za-z]+):\s*(.*?)\s*$/, (key) => SAFE_YARN_KEYS[key] ?? null)
}

function gathered(text: string, line: RegExp, nameOf: (key: string) => string | null): Variables {
  const found: Record<string, string> = {}
  for (const [, key = '', quoted = ''] of text.split('\n').map((each) => line.exec(each) ?? [])) {
    const name = nameOf(key)
    const value = quoted.replace(/^(["'])(.*)\1$/, '$2')
    if (name !== null && value !== '' && isHarmless(value)) found[name] = value
  }
  return found
}

const LOGIN = /:\/\/[^/]*@/

function isHarmless(value: string): boolean {
  return !LOGIN.test(value) && !value.includes('${') && /^[\x20-\x7e]+$/.test(value)
}
