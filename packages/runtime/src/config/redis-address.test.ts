import { expect, it } from 'vitest'
import { parseRedisAddress } from './redis-address.js'

it.each(['redis://cache', 'rediss://user:password@cache:6380/2'])('keeps the address of a server: %s', (url) => {
  expect(parseRedisAddress(url)).toEqual({ kind: 'server', url })
})

it('reads the sentinels of a primary, its name and its login', () => {
  expect(parseRedisAddress('redis+sentinel://10.0.0.1:26380,second,[::1]:26381/heddle')).toEqual({
    kind: 'sentinel',
    sentinels: [
      { host: '10.0.0.1', port: 26_380 },
      { host: 'second', port: 26_379 },
      { host: '::1', port: 26_381 },
    ],
    name: 'heddle',
    database: 0,
    isEncrypted: false,
  })
  expect(parseRedisAddress('rediss+sentinel://worker:p%40ss:word@one/heddle/3')).toMatchObject({
    username: 'worker',
    password: 'p@ss:word',
    database: 3,
    isEncrypted: true,
  })
  expect(parseRedisAddress('redis+sentinel://:password@one/heddle')).toMatchObject({ password: 'password' })
})

it.each([
  'http://cache',
  'cache:6379',
  'redis+sentinel://one',
  'redis+sentinel:///heddle',
  'redis+sentinel://one:port/heddle',
  'redis+sentinel://one:70000/heddle',
  'redis+sentinel://one,/heddle',
  'redis+sentinel://%zz@one/heddle',
  'redis+sentinel://one/%zz',
  'redis+sentinel://one/heddle/database',
])('refuses %s', (text) => {
  expect(parseRedisAddress(text)).toBeNull()
})
