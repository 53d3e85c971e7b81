import { readFile } from 'node:fs/promises'
import { spawnNode } from '@heddle/test-support'
import { startProtocolServer } from '@heddle/test-support/servers/protocol-server'
import { expect, test } from 'vitest'
import { type Served, servePipeline } from '../doors/http-support.js'
import type { Pipeline } from '../support.js'

let pipeline: Pipeline
let http: Served
servePipeline((opened) => {
  ;({ pipeline, http } = opened)
})

const REPLY = 'The token has expired.'

const programs = [
  { framework: 'ai-sdk', thread: 'fix-login', prints: { text: REPLY } },
  { framework: 'langchain', prints: { text: REPLY } },
  { framework: 'openai-agents', prints: { text: REPLY, items: 2 } },
]

test('the program in the README of mastra is the one that verify:install runs under a later Node', async () => {
  const program = new URL('../../install/programs/later-node/mastra.ts', import.meta.url)
  const readme = await readFile(new URL('../../../packages/mastra/README.md', import.meta.url), 'utf8')
  expect(readme).toContain(`\`\`\`ts\n${await readFile(program, 'utf8')}\`\`\`\n`)
})

test.each(programs)('the program in the README of $framework runs as it is', async ({ framework, thread, prints }) => {
  const program = new URL(`../../install/programs/${framework}.ts`, import.meta.url)
  const readme = await readFile(new URL(`../../../packages/${framework}/README.md`, import.meta.url), 'utf8')
  expect(readme).toContain(`\`\`\`ts\n${await readFile(program, 'utf8')}\`\`\`\n`)
  const provider = await startProtocolServer()
  provider.respond(() => ({ kind: 'text', text: REPLY }))
  const started = spawnNode(program, { env: { HEDDLE_URL: http.url, OPENAI_BASE_URL: provider.openAiUrl } })
  await started.exited
  await provider.close()
  expect(JSON.parse(started.stdout() || started.stderr())).toEqual(prints)
  if (thread === undefined) return
  const { items } = await pipeline.client.messages.list({ thread, order: 'asc' })
  expect(items.map(({ content }) => content)).toEqual(['The login fails.', REPLY])
})
