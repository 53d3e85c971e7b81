import { threadIdOf } from '@heddle/core'
import postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import { pipelineOfTests } from '../support.js'

const run = pipelineOfTests()
const client = () => run.pipeline.client

const RULE = 'Never delete a delivery.'
const SECRET = 'The door code of the storehouse is 4711.'

/** A session with some words, up to the hook before its compaction. */
async function compacted(session_id: string): Promise<void> {
  const common = { session_id, transcript_path: '/none', cwd: '/repo' }
  for (const [at, prompt] of [RULE, SECRET, 'Fix the report of the deliveries.'].entries())
    await client().hooks.claudeCode({ ...common, hook_event_name: 'UserPromptSubmit', prompt, prompt_id: `p${at}` })
  await client().hooks.claudeCode({
    ...common,
    hook_event_name: 'PreCompact',
    trigger: 'auto',
    custom_instructions: '',
  })
}

async function resumed(session_id: string): Promise<string> {
  const common = { session_id, transcript_path: '/none', cwd: '/repo' }
  const output = await client().hooks.claudeCode({ ...common, hook_event_name: 'SessionStart', source: 'compact' })
  const { additionalContext = '' } = (output.hookSpecificOutput ?? {}) as { readonly additionalContext?: string }
  return additionalContext
}

async function referenceOf(thread: string, content: string): Promise<string> {
  const { items } = await client().messages.list({ thread, limit: 10, order: 'asc' })
  return items.find((message) => message.content === content)?.reference ?? ''
}

test('a message that is erased after the hook before a compaction is not in the text after it', async () => {
  await run.start()
  await compacted('erased')
  await client().messages.erase({ thread: 'erased', messageId: await referenceOf('erased', SECRET) })
  const text = await resumed('erased')
  expect(text).toContain('Fix the report')
  expect(text).not.toContain('4711')
})

test('pins that are set and taken back after the hook before a compaction are as they are now', async () => {
  await run.start()
  await compacted('pinned')
  const messageId = await referenceOf('pinned', SECRET)
  await client().pins.set({ thread: 'pinned', messageId })
  const constraints = async () => (await resumed('pinned')).split('\n\n## ')[1]
  expect(await constraints()).toContain('4711')
  await compacted('pinned')
  await client().pins.remove({ thread: 'pinned', messageId })
  expect(await constraints()).not.toContain('4711')
})

test('a text is made from the newest messages, of as many bytes as fit into memory', async () => {
  await run.start()
  const append = async (content: string) => {
    const messages = [{ role: 'user' as const, content }]
    await client().messages.append({ agent: 'reader', thread: 'large', messages, ack: 'stored' })
  }
  await append(RULE)
  for (let page = 0; page < 5; page++) await append(`Page ${page}. ${'word '.repeat(700_000)}`)
  await append('Summarize the last page.')
  const { text } = await client().threads.resumeText('large')
  expect(text).toContain('Summarize the last page.')
  expect(text).toContain('Page 4.')
  expect(text).not.toContain(RULE)
})

test('the snapshot of a compaction is requested even where no text can be made', async () => {
  await run.start(['ingest'])
  await client().hooks.openCode({ type: 'said', role: 'user', id: 'm1', text: RULE, session: 'unreadable' })
  const sql = postgres(run.pipeline.databaseUrl, { max: 1, onnotice: () => {} })
  onTestFinished(() => sql.end())
  const threadId = threadIdOf(run.pipeline.projectId, 'unreadable')
  await sql`update heddle.messages set content_escaped = true where thread_id = ${threadId}`
  await expect(client().hooks.openCode({ type: 'compacting', session: 'unreadable' })).rejects.toThrow()
  const rows = await sql`select from heddle.snapshots where description = 'before a compaction of unreadable'`
  expect(rows).toHaveLength(1)
})
