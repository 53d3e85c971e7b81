import { expect, test } from 'vitest'
import { createCheckOrigin, isLoopback } from './loopback.js'

const checkOrigin = createCheckOrigin({ hosts: [], addresses: false })

test('addresses that only this machine can reach are recognized', () => {
  for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost']) expect(isLoopback(host)).toBe(true)
  for (const host of ['0.0.0.0', '::', '192.168.1.5', 'example.com', '127.0.0.1.example.com', ''])
    expect(isLoopback(host)).toBe(false)
})

test('names of loopback are accepted with any port', () => {
  for (const host of ['127.0.0.1', '127.0.0.1:4680', 'localhost:9', 'LOCALHOST', '[::1]:4680']) {
    expect(() => checkOrigin({ host })).not.toThrow()
  }
})

test('a foreign name that resolves to loopback is refused', () => {
  const names = [
    'evil.example',
    'evil.example:4680',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '10.0.0.1',
    '',
  ]
  for (const host of [...names, 'localhost:4680@evil.example', 'evil.example#127.0.0.1', undefined]) {
    expect(() => checkOrigin({ host })).toThrow(expect.objectContaining({ status: 403 }))
  }
})

test('pages of this server are accepted, all others refused', () => {
  const host = '127.0.0.1:4680'
  expect(() => checkOrigin({ host, origin: 'http://127.0.0.1:4680' })).not.toThrow()
  const others = [
    'http://evil.example',
    'null',
    'http://localhost:4680',
    'http://127.0.0.1:3000',
    'https://127.0.0.1:4680',
  ]
  for (const origin of [...others, 'http://127.0.0.1:4680.evil.example', 'file://', '']) {
    expect(() => checkOrigin({ host, origin })).toThrow(expect.objectContaining({ status: 403 }))
  }
})

test('a server with configured names accepts those and loopback, and the pages of both, and nothing else', () => {
  const check = createCheckOrigin({ hosts: ['heddle.example'], addresses: true })
  for (const host of ['heddle.example', 'HEDDLE.example:443', '127.0.0.1:4680', '10.0.0.7:4680', '[fe80::1]']) {
    expect(() => check({ host })).not.toThrow()
  }
  expect(() => check({ host: 'heddle.example', origin: 'https://heddle.example' })).not.toThrow()
  for (const host of ['evil.example', 'heddle.example.evil', 'x@heddle.example', '10.0.0.7.evil.example', '']) {
    expect(() => check({ host })).toThrow(expect.objectContaining({ status: 403 }))
  }
  const evil = { host: 'heddle.example', origin: 'https://evil.example' }
  expect(() => check(evil)).toThrow(expect.objectContaining({ status: 403 }))
  const named = createCheckOrigin({ hosts: ['heddle.example'], addresses: false })
  expect(() => named({ host: '10.0.0.7' })).toThrow(expect.objectContaining({ status: 403 }))
})
