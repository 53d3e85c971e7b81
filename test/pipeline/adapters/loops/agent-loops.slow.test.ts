import { spawnNode } from '@heddle/test-support'
import { expect, test } from 'vitest'
import { serveAdapter } from '../adapter-support.js'
import { LOOP_BUDGET, measureLoop } from './measure-loop.js'

const heddle = serveAdapter()

const frameworks = [
  { framework: 'langchain', process: 'langchain-loop-process', memory: 'MemorySaver' },
  { framework: 'openai-agents', process: 'agents-loop-process', memory: 'MemorySession' },
  { framework: 'ai-sdk', process: 'ai-sdk-loop-process', memory: 'all messages' },
]

test.each(frameworks)(
  'an agent of $framework with 200 turns, killed and resumed twice, stays within its budget, and nothing is lost',
  async ({ framework, process, memory }) => {
    const program = new URL(`./${process}.ts`, import.meta.url)
    const { orphans, lost, withHeddle } = await measureLoop({
      name: framework,
      url: heddle.url,
      start: (env) => spawnNode(program, { env }),
      memories: [memory],
    })
    expect([orphans, lost]).toEqual([[], []])
    // The budget counts what is said, without the names of fields that the JSON has.
    expect(withHeddle.tokensMax).toBeLessThan(LOOP_BUDGET * 1.5)
  },
  600_000,
)
