import { listCalibrations } from '@heddle/store'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'

let pipeline: Pipeline

beforeAll(async () => {
  pipeline = await openPipeline()
  await pipeline.start()
})
afterAll(() => pipeline?.close())

const MODEL = 'acme-2'
const WINDOW = 20_000
const RATIO = 1.6
const BESIDE = 2_000

/** Turns of a thread whose model counts its requests in its own way. */
async function converse(agent: string, thread: string, turns: number, usageOf = (tokens: number) => countedBy(tokens)) {
  const { client } = pipeline
  for (let turn = 0; turn < turns; turn++) {
    const question = { role: 'user' as const, content: `question ${turn}: ${'why does the build fail '.repeat(12)}` }
    const context = await client.contexts.build({ agent, thread, append: [question] })
    const reply = {
      role: 'assistant' as const,
      content: `answer ${turn}`,
      model: MODEL,
      contextId: context.id,
      usage: usageOf(context.tokensUsed),
    }
    await client.messages.append({ agent, thread, messages: [reply] })
  }
  await client.threads.waitUntilSettled(thread)
}

function countedBy(tokens: number) {
  return { input_tokens: Math.round(BESIDE + RATIO * tokens), output_tokens: 5 }
}

async function newAgent(agent: string, settings: object = {}) {
  await pipeline.client.agents.put(agent, {
    settings: { model: MODEL, unknownModelWindow: WINDOW, maxOutputTokens: 1_000, rollingWindow: null, ...settings },
  })
}

describe('calibration', () => {
  test('is learnt from replies, lowers the limit, and says so in receipts', async () => {
    const { client } = pipeline
    await newAgent('coder')
    await converse('coder', 'work', 15)
    expect((await client.agents.calibration('coder')).items).toEqual([])
    const before = await client.contexts.build({ thread: 'work' })
    expect(before).toMatchObject({ budget: WINDOW - 1_000 })
    expect(before.receipt.calibration).toBeUndefined()

    await converse('coder', 'work', 15)
    const [learnt] = (await client.agents.calibration('coder')).items
    expect(learnt).toMatchObject({ model: MODEL, provider: 'unknown' })
    expect(learnt?.learnt.ratio).toBeCloseTo(RATIO, 1)
    expect(Math.abs((learnt?.learnt.offset ?? 0) - BESIDE)).toBeLessThan(150)

    const after = await client.contexts.build({ thread: 'work' })
    const { calibration, notes } = after.receipt
    expect(calibration).toMatchObject({ ratio: learnt?.ratio, offset: learnt?.offset, isLimiting: true })
    expect(notes.join()).toContain(`calibrated: ${after.budget} tokens fit instead of ${before.budget}`)
    expect(BESIDE + RATIO * after.budget).toBeLessThanOrEqual(WINDOW - 1_000)
    const counted = BESIDE + RATIO * after.tokensUsed
    expect(Math.abs((calibration?.expectedTokens ?? 0) - counted) / counted).toBeLessThan(0.1)
    expect(calibration?.atMostTokens).toBeGreaterThanOrEqual(counted)
  })

  test('is recorded with the contexts that it limited, which are the same when they are read again', async () => {
    const { client, store, projectId } = pipeline
    const built = await client.contexts.build({ thread: 'work' })
    expect(built.receipt.calibration?.isLimiting).toBe(true)
    await store.inProject(projectId, (tx) => tx`delete from heddle.context_deliveries where context_id = ${built.id}`)
    await newAgent('coder', { calibration: { enabled: false } })
    expect(await client.contexts.get(built.id)).toEqual(built)
    const off = await client.contexts.build({ thread: 'work' })
    expect(off.budget).toBe(WINDOW - 1_000)
    expect(off.receipt.calibration).toBeUndefined()
  })

  test('changes nothing for a budget that is smaller than the calibrated limit', async () => {
    const { client } = pipeline
    await newAgent('small', { budget: 4_000 })
    await converse('small', 'small', 24)
    const { budget, receipt } = await client.contexts.build({ thread: 'small' })
    expect(budget).toBe(4_000)
    expect(receipt.calibration).toMatchObject({ isLimiting: false })
    expect(receipt.notes.join()).not.toContain('calibrated')
  })

  test.each([
    ['zero', { input_tokens: 0 }],
    ['negative', { input_tokens: -50_000 }],
    ['huge', { input_tokens: 1e15 }],
    ['text', { input_tokens: '90000' }],
    ['absent', {}],
  ])('is not learnt from a usage that is %s', async (name, usage) => {
    const { store, projectId, client } = pipeline
    await newAgent(`wrong-${name}`)
    await converse(`wrong-${name}`, `wrong-${name}`, 22, () => usage as never)
    const { agentId } = await client.agents.get(`wrong-${name}`)
    expect(await store.inProject(projectId, (tx) => listCalibrations(tx, { agentId }))).toEqual([])
  })

  test('is erased with its agent', async () => {
    const { client, store, projectId } = pipeline
    const { agentId } = await client.agents.get('small')
    const learnt = () => store.inProject(projectId, (tx) => listCalibrations(tx, { agentId }))
    expect(await learnt()).toHaveLength(1)
    await client.agents.delete('small', { wait: true })
    expect(await learnt()).toEqual([])
  })
})
