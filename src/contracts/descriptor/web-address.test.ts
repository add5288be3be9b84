/** Web addresses and host names of a scope. */
import { describe, expect, it } from 'vitest'
import { namesAddress, parseHost, parseWebAddress } from './web-address.ts'

describe('a web address', () => {
  it.each([
    ['http://example.com', 'example.com', 80],
    ['HTTPS://Example.COM/a?b#c', 'example.com', 443],
    ['https://example.com:8443/', 'example.com', 8443],
    ['http://0x7f.1/', '127.0.0.1', 80],
    ['http://[::1]:3000/', '[::1]', 3000],
    ['https://bücher.example/', 'xn--bcher-kva.example', 443],
  ])('%s', (text, host, port) => {
    expect(parseWebAddress(text)).toEqual({ host, port })
  })

  it.each([
    '',
    'example.com',
    '//example.com',
    'ftp://example.com',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https:///example.com',
    'https://?x',
    'https://user@example.com/',
    'https://user:word@example.com/',
    'https://example.com:99999/',
    'https://exa mple.com/',
    'https://example.com/\n',
    'https:\\\\example.com',
    'https://example.com\\@evil.example/',
    `https://example.com/${'x'.repeat(9_000)}`,
  ])('is not: %s', (text) => {
    expect(parseWebAddress(text)).toBeNull()
  })
})

describe('a host of a scope', () => {
  it.each([
    ['example.com', 'example.com', null],
    ['example.com:8443', 'example.com', 8443],
    ['127.0.0.1', '127.0.0.1', null],
    ['[::1]:80', '[::1]', 80],
    ['localhost', 'localhost', null],
  ])('%s', (text, host, port) => {
    expect(parseHost(text)).toEqual({ host, port })
  })

  it.each([
    '',
    ' ',
    'Example.com',
    'http://a',
    'a/b',
    'a?b',
    'a@b',
    'a:',
    'a:0',
    'a:70000',
    '0x7f.1',
    '::1',
    'a b',
  ])('is not: %j', (text) => {
    expect(parseHost(text)).toBeNull()
  })

  it('names an address with its port, and the two usual ports without', () => {
    const hosts = new Set(['example.com', 'localhost:3000'])
    expect(namesAddress(hosts, { host: 'example.com', port: 443 })).toBe(true)
    expect(namesAddress(hosts, { host: 'example.com', port: 80 })).toBe(true)
    expect(namesAddress(hosts, { host: 'example.com', port: 8080 })).toBe(false)
    expect(namesAddress(hosts, { host: 'localhost', port: 3000 })).toBe(true)
    expect(namesAddress(hosts, { host: 'localhost', port: 80 })).toBe(false)
    expect(namesAddress(hosts, { host: 'sub.example.com', port: 443 })).toBe(false)
  })
})
