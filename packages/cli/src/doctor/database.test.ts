import { expect, test } from 'vitest'
import { clockCheck, connectionCheck, noConnectionCheck } from './database.js'

const most = { process: 12, stage: 10 }
const free = { connectionsMax: 100, connectionsOpen: 3, connectionLimits: [] }
const byRole = { ...free, connectionLimits: [{ of: 'role' as const, name: 'app', max: 13, open: 10 }] }

test('the tightest limit of connections decides, and is named as the one to raise', () => {
  expect(connectionCheck(free, most)).toMatchObject({
    status: 'ok',
    detail: expect.stringContaining('enough for 8 more'),
  })
  expect(connectionCheck(byRole, most)).toMatchObject({
    status: 'fail',
    detail: expect.stringContaining('role "app" may have 13, 10 open'),
    hint: expect.stringContaining('alter role "app" connection limit'),
  })
  expect(connectionCheck({ ...free, connectionsOpen: 99 }, most)).toMatchObject({
    status: 'fail',
    hint: expect.stringContaining('Raise max_connections'),
  })
})

test('a server without a free connection is reported with its figures', () => {
  expect(noConnectionCheck({ ...free, connectionsOpen: 100 })).toMatchObject({
    status: 'fail',
    detail: 'max_connections 100, 100 open: no connection is left',
  })
})

test('a clock difference above the limit is reported with its direction', () => {
  expect(clockCheck({ clockSkewMs: -4_000 }).status).toBe('ok')
  expect(clockCheck({ clockSkewMs: 31_536_000_000 })).toMatchObject({
    status: 'warn',
    detail: "this machine's clock is 31536000.0 s behind the database's",
  })
  expect(clockCheck({ clockSkewMs: -6_000 }).detail).toContain('ahead of')
})
