import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Access } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import { Refused } from '../http/problems.js'
import { createMountDoor } from './mount-door.js'
import { RequestsUnderWay } from './requests-under-way.js'

const ACME: Access = { project: 'acme', role: 'produce' }
const UNKNOWN = { project: null }

function openDoor() {
  const clock = new ManualClock()
  const looks: { resolve(access: Access): void; reject(error: Error): void }[] = []
  const door = createMountDoor({
    admit: () => new Promise((resolve, reject) => looks.push({ resolve, reject })),
    checkOrigin: () => {},
    requests: new RequestsUnderWay(),
    isOpenToOthers: false,
    clock,
  })
  const enter = () => {
    const request = new IncomingMessage(new Socket())
    request.headers['x-heddle-key'] = 'key'
    return door.enter(request, new ServerResponse(request), 50)
  }
  return { clock, looks, enter }
}

test('a caller whose key was looked up too late for one request is known to the next, also while the store is away', async () => {
  const { clock, looks, enter } = openDoor()
  const first = enter()
  await clock.advance(50)
  expect(await first).toEqual(UNKNOWN)
  looks[0]?.resolve(ACME)
  await clock.advance(0)
  expect(await enter()).toMatchObject({ project: 'acme' })
  await clock.advance(1_000)
  const hanging = enter()
  await clock.advance(50)
  expect(await hanging).toMatchObject({ project: 'acme' })
  expect(looks).toHaveLength(2)
})

test('a key that was refused too late for one request is not admitted as the last time', async () => {
  const { clock, looks, enter } = openDoor()
  const first = enter()
  looks[0]?.resolve(ACME)
  expect(await first).toMatchObject({ project: 'acme' })
  const late = enter()
  await clock.advance(50)
  expect(await late).toMatchObject({ project: 'acme' })
  looks[1]?.reject(new Refused({ code: 'UNAUTHORIZED', detail: 'authorization: the key is unknown' }))
  await clock.advance(0)
  expect(await enter()).toEqual(UNKNOWN)
})
