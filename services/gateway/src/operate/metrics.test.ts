import type { StageStats } from '@heddle/queue'
import { expect, test } from 'vitest'
import { Metrics } from './metrics.js'

const pool = { workers: 2, done: 40, failed: 3, tookMs: 900, perSecond: 4 }
const stages: StageStats[] = [
  {
    stage: 'prune',
    waiting: 1,
    active: 1,
    delayed: 0,
    failed: 0,
    prioritized: 0,
    due: 0,
    paused: false,
    oldestWaitMs: 500,
    pool,
  },
]
const models = new Map([['openai small', { calls: 3, failed: 1, inputTokens: 100, outputTokens: 10 }]])

/** Metrics of a gateway process that has done one job; all figures of the deployment are constant. */
async function metricsOfOne(): Promise<string> {
  const metrics = new Metrics()
  metrics.settled({ stage: 'prune', jobId: 'j1', attempt: 1, result: 'retried', durationMs: 30 })
  metrics.settled({ stage: 'prune', jobId: 'j1', attempt: 2, result: 'done', durationMs: 40 })
  metrics.refused('UNAUTHORIZED')
  metrics.answered('GET', '/healthz', 200, 3)
  return await metrics.read(stages, { deadLetters: [{ stage: 'prune' }], streams: 1, models })
}

/** Violations of the rules of `promtool check metrics`. */
function faultsOf(text: string): string[] {
  const faults: string[] = []
  const types = new Map<string, string>()
  const helps = new Set<string>()
  const seen = new Set<string>()
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? []
    if (kind === 'HELP') {
      if (helps.has(name)) faults.push(`${name}: two helps`)
      helps.add(name)
    } else if (kind === 'TYPE') {
      if (types.has(name)) faults.push(`${name}: two types`)
      types.set(name, rest)
      if ((rest === 'counter') !== name.endsWith('_total')) faults.push(`${name}: ${rest} by its name is none`)
      if (!helps.has(name)) faults.push(`${name}: no help`)
    } else {
      const series = line.slice(0, line.lastIndexOf(' '))
      if (seen.has(series)) faults.push(`${series}: twice`)
      seen.add(series)
      const family = series.replace(/\{.*/, '')
      const isKnown = types.has(family) || types.has(family.replace(/_(bucket|sum|count)$/, ''))
      if (!isKnown) faults.push(`${family}: no type`)
    }
  }
  return faults
}

function sumOf(texts: readonly string[], name: string): number {
  const values = texts.flatMap((text) => [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (.+)$`, 'gm'))])
  return values.reduce((sum, [, value]) => sum + Number(value), 0)
}

test('exactly the counters have names that end with _total', async () => {
  expect(faultsOf(await metricsOfOne())).toEqual([])
})

test('totals are of one process, so the sum over two gateways counts nothing twice', async () => {
  const both = [await metricsOfOne(), await metricsOfOne()]
  expect(sumOf(both, 'heddle_stage_jobs_done_total')).toBe(2)
  expect(sumOf(both, 'heddle_stage_tries_failed_total')).toBe(2)
  expect(sumOf(both, 'heddle_stage_tries_seconds_total')).toBeCloseTo(0.14)
  expect(sumOf(both, 'heddle_model_calls_total')).toBe(6)
  // Figures of the whole deployment are the same in both.
  expect(both.map((text) => sumOf([text], 'heddle_stage_jobs_per_second'))).toEqual([4, 4])
})

test('compactions are counted with their messages by action and the tokens that they saved', async () => {
  const metrics = new Metrics()
  const read = () => metrics.read(null, { deadLetters: [], streams: 0 })
  expect(await read()).toContain('heddle_pruned_messages_total{action="stubbed"} 0')
  for (let time = 0; time < 2; time++)
    metrics.pruned({ compactions: 1, condensed: 5, stubbed: 2, removed: 3, tokensSaved: 4_000 })
  const text = await read()
  for (const line of [
    'heddle_compactions_total 2',
    'heddle_pruned_messages_total{action="condensed"} 10',
    'heddle_pruned_messages_total{action="stubbed"} 4',
    'heddle_pruned_messages_total{action="removed"} 6',
    'heddle_compaction_tokens_saved_total 8000',
  ])
    expect(text).toContain(line)
})

test('the first dead letter of a process is an increase', async () => {
  const metrics = new Metrics()
  const read = async () => (await metrics.read(null, { deadLetters: [], streams: 0 })).split('\n')
  const series = 'heddle_stage_duration_seconds_count{stage="prune",result="dead"}'
  expect(await read()).toContain(`${series} 0`)
  metrics.settled({ stage: 'prune', jobId: 'j1', attempt: 5, result: 'dead', durationMs: 30 })
  expect(await read()).toContain(`${series} 1`)
})

test('counts are kept when they are read again', async () => {
  const metrics = new Metrics()
  const read = () => metrics.read(null, { deadLetters: [], streams: 0, models })
  expect(sumOf([await read()], 'heddle_model_tokens_total')).toBe(110)
  expect(sumOf([await read()], 'heddle_model_tokens_total')).toBe(110)
})
