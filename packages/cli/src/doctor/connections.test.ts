import { stageNames } from '@heddle/contracts'
import { connectionsOf } from '@heddle/host'
import { expect, test } from 'vitest'
import { connectionCheck } from './database.js'

const usual = { connections: { store: null, workers: null }, redisUrl: null }

test('a process opens at most twelve connections, and fewer with one stage or none', () => {
  expect(connectionsOf(usual, stageNames).total).toBe(12)
  expect(connectionsOf(usual, ['assemble']).total).toBe(10)
  expect(connectionsOf(usual, ['ingest']).total).toBe(8)
  expect(connectionsOf(usual, []).total).toBe(7)
})

test('with the queues on Redis only the connections of the store count', () => {
  expect(connectionsOf({ ...usual, redisUrl: 'redis://127.0.0.1' }, stageNames).total).toBe(6)
})

test('the configuration changes the size of both pools', () => {
  const config = { ...usual, connections: { store: 12, workers: 6 } }
  expect(connectionsOf(config, stageNames)).toEqual({
    store: 12,
    queues: { producersMax: 2, workersMax: 6 },
    threads: 2,
    total: 23,
  })
})

test('doctor counts the processes that a server of the usual size has connections for', () => {
  const server = { connectionsMax: 100, connectionsOpen: 4, connectionLimits: [] }
  expect(connectionCheck(server, { process: 10, stage: 8 })).toMatchObject({
    status: 'ok',
    detail: 'max_connections 100, 4 open; one process opens up to 10, a worker of one stage 8: enough for 9 more',
  })
  expect(
    connectionCheck({ connectionsMax: 20, connectionsOpen: 4, connectionLimits: [] }, { process: 10, stage: 8 }).status,
  ).toBe('warn')
  expect(
    connectionCheck({ connectionsMax: 20, connectionsOpen: 14, connectionLimits: [] }, { process: 10, stage: 8 })
      .status,
  ).toBe('fail')
})
