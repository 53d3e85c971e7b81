import type { AccessRole } from '@heddle/contracts'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, test } from 'vitest'
import { type Served, servePipeline } from '../doors/http-support.js'
import type { Pipeline } from '../support.js'

let pipeline: Pipeline
let http: Served

servePipeline((opened) => {
  ;({ pipeline, http } = opened)
})

async function connect(project: string, role: AccessRole = 'read'): Promise<Client> {
  const { key } = await pipeline.clientOf(project).keys.create({ name: role, role })
  const client = new Client({ name: 'test', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${http.url}/mcp`), { requestInit }) as never)
  return client
}

/** A thread with a constraint, a request, an edit, and what the assistant said last. */
async function talk(project: string, thread = 'fix-login'): Promise<void> {
  const edit = {
    id: 'call-1',
    name: 'Edit',
    arguments: { file_path: '/repo/src/login.ts', old_string: 'a', new_string: 'b' },
  }
  await pipeline.clientOf(project).messages.append({
    agent: 'coder',
    thread,
    newAgentRollingWindow: null,
    messages: [
      { role: 'user', content: 'Never push to main. Fix the login of expired sessions.' },
      { role: 'assistant', content: 'I change the check.', toolCalls: [edit] },
      { role: 'tool_result', toolCallId: 'call-1', content: 'The file was updated.' },
      { role: 'assistant', content: 'The check is changed; the tests are left to run.' },
    ],
  })
}

describe('prompts over MCP', () => {
  test('are listed with their argument, and only for keys that may read', async () => {
    const client = await connect('listing')
    const { prompts } = await client.listPrompts()
    expect(prompts.map(({ name, arguments: given }) => [name, given?.map(({ name: each }) => each)])).toEqual([
      ['resume', ['thread']],
      ['handoff', ['thread']],
    ])
    const producer = await connect('listing', 'produce')
    expect((await producer.listPrompts()).prompts).toEqual([])
    await expect(producer.getPrompt({ name: 'resume', arguments: { thread: 'x' } })).rejects.toThrow('FORBIDDEN')
    await client.close()
    await producer.close()
  })

  test.each(['resume', 'handoff'])(
    '%s gives the record of a thread, word for word and with references',
    async (name) => {
      const project = `prompt-${name}`
      await talk(project)
      const client = await connect(project)
      const { messages } = await client.getPrompt({ name, arguments: { thread: 'fix-login' } })
      expect(messages).toHaveLength(1)
      const { role, content } = messages[0] as { role: string; content: { type: string; text: string } }
      expect([role, content.type]).toEqual(['user', 'text'])
      expect(content.text).toContain('"fix-login"')
      expect(content.text).toContain('Never push to main.')
      expect(content.text).toContain('Fix the login of expired sessions.')
      expect(content.text).toContain('login.ts')
      expect(content.text).toContain('the tests are left to run')
      const [reference = ''] = content.text.match(/msg-[0-9a-z]{8}/g)?.slice(-1) ?? []
      const recalled = await client.callTool({ name: 'recall', arguments: { ref: reference, thread: 'fix-login' } })
      expect(recalled.isError).toBeUndefined()
      await client.close()
    },
  )

  test('use the thread that a call named last, and say what is missing', async () => {
    await talk('sessions')
    const client = await connect('sessions')
    await expect(client.getPrompt({ name: 'resume' })).rejects.toThrow(/VALIDATION_ERROR.*thread/)
    await client.callTool({ name: 'history', arguments: { thread: 'fix-login' } })
    const { messages } = await client.getPrompt({ name: 'resume' })
    expect(JSON.stringify(messages)).toContain('Never push to main.')
    await expect(client.getPrompt({ name: 'resume', arguments: { thread: 'nowhere' } })).rejects.toThrow('NOT_FOUND')
    await expect(client.getPrompt({ name: 'resum' })).rejects.toThrow(/NOT_FOUND.*resume/)
    await expect(client.getPrompt({ name: 'resume', arguments: { tread: 'x' } })).rejects.toThrow('VALIDATION_ERROR')
    await client.close()
  })

  test('complete the names of threads of the own project', async () => {
    await talk('completing', 'fix-login')
    await talk('completing', 'fix-logout')
    await talk('completing', 'docs')
    await talk('others', 'fix-secrets')
    const client = await connect('completing')
    const ref = { type: 'ref/prompt', name: 'resume' } as const
    const completed = async (argument: { name: string; value: string }) =>
      (await client.complete({ ref, argument })).completion.values.toSorted()
    expect(await completed({ name: 'thread', value: 'fix' })).toEqual(['fix-login', 'fix-logout'])
    expect(await completed({ name: 'thread', value: '' })).toEqual(['docs', 'fix-login', 'fix-logout'])
    expect(await completed({ name: 'other', value: 'fix' })).toEqual([])
    await client.close()
  })
})

test('the text of a thread is the same by SDK and HTTP, and of a thread that nothing was said in empty', async () => {
  await talk('texts')
  const client = pipeline.clientOf('texts')
  const { key } = await client.keys.create({ name: 'reader', role: 'read' })
  const answer = await fetch(`${http.url}/v1/threads/fix-login/resume-text`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const said = await client.threads.resumeText('fix-login')
  expect(await answer.json()).toEqual(said)
  expect(said).toMatchObject({ thread: 'fix-login', headSeq: 4 })
  expect(said.text.length).toBeLessThanOrEqual(10_000)
  await client.threads.put('silent', { agent: 'coder' })
  expect(await client.threads.resumeText('silent')).toEqual({ thread: 'silent', headSeq: 0, text: '' })
  await expect(client.threads.resumeText('nowhere')).rejects.toMatchObject({ code: 'NOT_FOUND' })
})
