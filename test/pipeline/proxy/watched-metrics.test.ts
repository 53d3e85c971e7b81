import type { Client } from '@heddle/client/interface'
import { type StageName, stageNames } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { dashboardExpressions, readRules, selectedBy } from '../../tooling/watching/watched.js'
import { backendWith, callRaw, withProxy } from './proxy-support.js'

const jobs = { waiting: 1, prioritized: 0, due: 0, active: 1, delayed: 0, failed: 0, paused: false, oldestWaitMs: 5 }
const pool = { workers: 1, done: 1, failed: 0, tookMs: 1, perSecond: 1 }
const statsOf = (stage: StageName) => ({ stage, ...jobs, pool })
const calls = { calls: 2, failed: 1, inputTokens: 5, outputTokens: 5 }

/** `/metrics` of a gateway with the proxy, which has done a little of everything. */
async function readMetrics(): Promise<string> {
  let text = ''
  const noKeys = backendWith({ read: async () => null, hasAny: async () => false })()
  const backend = {
    ...noKeys,
    clientOf: () => ({ deadLetters: { list: async () => [] } }) as unknown as Client,
    readStageStats: async () => stageNames.map(statsOf),
    readModelCalls: () => new Map([['openai small', calls]]),
  }
  await withProxy(
    async ({ gateway, anthropicUrl, proxy }) => {
      gateway.recordTry({ stage: 'prune', jobId: 'j', attempt: 1, result: 'done', durationMs: 3 })
      await callRaw(`${anthropicUrl}/v1/messages`, { body: '{}' })
      await callRaw(`${gateway.url}/v1/nothing`, { method: 'GET' })
      expect(proxy).toBeDefined()
      text = (await callRaw(`${gateway.url}/metrics`, { method: 'GET' })).body.toString()
    },
    { gateway: { backend: () => backend } },
  )
  return text
}

test('every metric and label that an alert or a dashboard names is exported by /metrics', async () => {
  const text = await readMetrics()
  const families = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name))
  const labels = new Map<string, Set<string>>()
  for (const [, name = '', list = ''] of text.matchAll(/^(\w+)\{(.*)\} \S+$/gm))
    labels.set(name, new Set([...list.matchAll(/(\w+)="/g)].map(([, label = '']) => label)))
  const expressions = [...(await readRules()).map(({ expr }) => expr), ...(await dashboardExpressions())]
  const named = expressions.flatMap(selectedBy)
  expect(named.length).toBeGreaterThan(30)
  const missing = named.flatMap(({ name, labels: used }) => {
    const family = name.replace(/_(bucket|sum|count)$/, '')
    if (!families.has(name) && !families.has(family)) return [name]
    // A counter of something that has not happened yet has no series, and so shows no labels.
    const known = labels.get(name)
    return known === undefined ? [] : used.filter((label) => !known.has(label)).map((label) => `${name}{${label}}`)
  })
  expect(missing).toEqual([])
  expect(selectedBy('rate(heddle_stage_gone_total{phase="x"}[5m])')).toEqual([
    { name: 'heddle_stage_gone_total', labels: ['phase'] },
  ])
})
