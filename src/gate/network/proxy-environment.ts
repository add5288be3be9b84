/**
 * The variables by which programs in the sandbox find the proxy. A run without a network gets none of
 * them. In a run with a network they replace those of the caller's environment.
 */

/** On the sandbox's own loopback, where no other program listens. */
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
  // Makes Node 24 and later read the names above.
  NODE_USE_ENV_PROXY: '1',
}
