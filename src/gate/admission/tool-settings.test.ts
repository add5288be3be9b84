/** Settings of package managers come in without their secrets. */
import { expect, it } from 'vitest'
import { npmSettings, pipSettings, yarnSettings } from './tool-settings.ts'

it('keys of the allow-list become variables, and nothing else does', () => {
  const npmrc = [
    '; a comment',
    'registry=https://npm.example/',
    '@team:registry = "https://team.example/npm/"',
    'strict-ssl=false',
    '//npm.example/:_authToken=secret',
    '_auth=secret',
    'email=ann@example.org',
    `cafile=$${'{HOME}'}/ca.pem`,
  ].join('\n')
  expect(npmSettings(npmrc)).toEqual({
    npm_config_registry: 'https://npm.example/',
    'npm_config_@team:registry': 'https://team.example/npm/',
    npm_config_strict_ssl: 'false',
  })
  const pip = '[global]\nindex-url = https://pip.example/simple\nproxy = http://u:p@proxy/\n'
  expect(pipSettings(pip)).toEqual({ PIP_INDEX_URL: 'https://pip.example/simple' })
  const yarn = 'npmRegistryServer: "https://npm.example"\nnpmAuthToken: secret\n'
  expect(yarnSettings(yarn)).toEqual({ YARN_NPM_REGISTRY_SERVER: 'https://npm.example' })
})

it('a registry with a login in it is left out', () => {
  expect(npmSettings('registry=https://ann:secret@npm.example/')).toEqual({})
  expect(pipSettings('index-url = https://ann:secret@pip.example/')).toEqual({})
})
