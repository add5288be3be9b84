/**
 * How programs inside find the proxy: by the names that they look for themselves. A run without a
 * network gets none of them; with one, whatever the caller's own environment said is replaced.
 */

/** On the loopback of the sandbox, where nobody else listens. */
export const PROXY_PORT = 3128

const ADDRESS = `http://127.0.0.1:${PROXY_PORT}`

export const PROXY_ENVIRONMENT: Readonly<Record<string, string>> = {
  HTTP_PROXY: ADDRESS,
  HTTPS_PROXY: ADDRESS,
  http_proxy: ADDRESS,
  https_proxy: ADDRESS,
  ALL_PROXY: ADDRESS,
  all_proxy: ADDRESS,
  // Without exceptions: there is no other way out.
  NO_PROXY: '',
  no_proxy: '',
  npm_config_proxy: ADDRESS,
  npm_config_https_proxy: ADDRESS,
  npm_config_noproxy: '',
  // Reports about what is installed are uploads.
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  // Node looks at the names above from version 24 on, when it is told to.
  NODE_USE_ENV_PROXY: '1',
}
