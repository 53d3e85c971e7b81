import { type HeddleOptions, heddleMiddleware } from '@heddle/ai-sdk'
import { countTokens } from '@heddle/core'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type Served, servePipeline } from '../doors/http-support.js'
import type { Pipeline } from '../support.js'
import { versions } from './ai-sdk-versions.js'
import { orphansIn, scriptedModel } from './scripted-model.js'

let pipeline: Pipeline
let http: Served
servePipeline((opened) => {
  ;({ pipeline, http } = opened)
})

const TURNS = 200
const BUDGET = 6_000

test.each(versions)(
  'with $title an agent of 200 turns, killed and resumed twice, stays within its budget and loses nothing',
  async (sdk) => {
    const thread = `long-${sdk.version}`
    const text = (turn: number) => `Line of turn ${turn}. `.repeat(40)
    const { model, prompts } = scriptedModel(sdk.version, (prompt) => {
      const last = prompt.at(-1)
      return last?.role === 'tool' ? { text: 'Noted.' } : { call: { name: 'look', input: { at: prompts.length } } }
    })
    let looks = 0
    const look = {
      description: 'Looks.',
      inputSchema: z.object({ at: z.number() }),
      execute: async () => text(++looks),
    }
    const options: HeddleOptions = { agent: 'long', thread, url: http.url, budget: BUDGET, deadlineMs: 30_000 }
    const open = () => sdk.wrapLanguageModel({ model, middleware: heddleMiddleware(options) as never })
    let wrapped = open()
    for (let turn = 1; turn <= TURNS; turn++) {
      // A killed process has nothing but the thread.
      if (turn === 70 || turn === 140) wrapped = open()
      const tools = { look } as never
      const messages = [{ role: 'user' as const, content: `Turn ${turn}` }]
      await sdk.generateText({ model: wrapped, messages, tools, stopWhen: sdk.stepCountIs(3) as never })
    }
    const tokens = prompts.map((prompt) => countTokens(JSON.stringify(prompt)))
    // The budget counts what a provider is sent, without the names of the fields that the JSON has.
    expect(Math.max(...tokens)).toBeLessThan(BUDGET * 1.5)
    expect(prompts.flatMap(orphansIn)).toEqual([])
    const earlier = await pipeline.client.messages.list({ thread, limit: 500, order: 'asc' })
    const later = await pipeline.client.messages.list({ thread, limit: 500, order: 'desc' })
    const all = new Map([...earlier.items, ...later.items].map((entry) => [entry.id, entry]))
    expect(all.size).toBe(TURNS * 4)
    const results = [...all.values()].filter(({ role }) => role === 'tool_result').map(({ content }) => content)
    expect(new Set(results)).toEqual(new Set(Array.from({ length: TURNS }, (_, index) => text(index + 1))))
  },
  300_000,
)
