import { type Access, accessRoles, permissionsFor } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import { checkPermission, createAdmit } from './access.js'

const acme: Access = { project: 'acme', role: 'read' }

function admitting(options: { isOpenToOthers?: boolean; hasAny?: boolean } = {}) {
  const clock = new ManualClock()
  const asked: string[] = []
  const known = new Map([['good', acme]])
  const state = { hasAny: options.hasAny ?? false }
  const admit = createAdmit({
    project: 'own',
    isOpenToOthers: options.isOpenToOthers ?? false,
    clock,
    keys: () => ({
      read: async (key) => {
        asked.push(key)
        return known.get(key) ?? null
      },
      hasAny: async () => state.hasAny,
    }),
  })
  return { admit, clock, asked, known, state }
}

const refused = { status: 401, data: expect.objectContaining({ code: 'UNAUTHORIZED', field: 'authorization' }) }

test('callers without a key are admin of the one project until it gets its first key', async () => {
  const { admit, clock, state } = admitting()
  expect(await admit({})).toEqual({ project: 'own', role: 'admin', isOperators: true })
  state.hasAny = true
  await clock.advance(2_001)
  await expect(admit({})).rejects.toMatchObject(refused)
  state.hasAny = false
  await clock.advance(60_000)
  await expect(admit({})).rejects.toMatchObject(refused)
})

test('a gateway that other machines can reach admits nobody without a key', async () => {
  const { admit } = admitting({ isOpenToOthers: true })
  await expect(admit({})).rejects.toMatchObject(refused)
  expect(await admit({ authorization: 'Bearer good' })).toEqual(acme)
  expect(await admit({ 'x-heddle-key': 'good' })).toEqual(acme)
})

test('an unknown or malformed key is refused, also on a gateway that requires no key', async () => {
  const { admit } = admitting()
  for (const authorization of [
    'Bearer bad',
    'Basic good',
    'good',
    '',
    'Bearer ',
    'Bearer good good',
    'Bearer good\n',
  ]) {
    await expect(admit({ authorization })).rejects.toMatchObject(refused)
  }
})

test('a revoked key is accepted for less than a second', async () => {
  const { admit, clock, asked, known } = admitting()
  await admit({ authorization: 'Bearer good' })
  known.clear()
  await clock.advance(899)
  expect(await admit({ authorization: 'bearer good' })).toEqual(acme)
  expect(asked).toEqual(['good', 'good'])
  await expect(admit({ authorization: 'Bearer good' })).rejects.toMatchObject(refused)
})

test('only admins of the operators may do what concerns all projects', () => {
  for (const role of accessRoles) {
    const check = () => checkPermission({ role, isOperators: true }, 'operate')
    if (role === 'admin') expect(check).not.toThrow()
    else expect(check).toThrow(expect.objectContaining({ status: 403 }))
    const refusedThere = expect.objectContaining({ hint: expect.stringContaining('all projects') })
    expect(() => checkPermission({ role }, 'operate')).toThrow(
      expect.objectContaining({ status: 403, data: refusedThere }),
    )
  }
})

test('each role is allowed its permissions and nothing else', () => {
  for (const role of accessRoles) {
    for (const needs of ['produce', 'read', 'admin'] as const) {
      const check = () => checkPermission({ role }, needs)
      if (permissionsFor({ role }).includes(needs)) expect(check).not.toThrow()
      else
        expect(check).toThrow(
          expect.objectContaining({ status: 403, data: expect.objectContaining({ received: role }) }),
        )
    }
  }
})
