import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { SessionEvent } from '../../../../plugins/opencode/events.js'
import { Gateway, type GatewayOptions } from '../../../../plugins/opencode/gateway.js'
import { outputOf } from '../../../../plugins/opencode/outputs.js'
import { Resumed } from '../../../../plugins/opencode/resumed.js'

const said = (id: string): SessionEvent => ({ type: 'said', role: 'user', session: 's', id, text: id })
const status = (code: number) => (response: ServerResponse) => response.writeHead(code).end('{}')

/** OpenCode with a list of stored events, and a gateway whose answers a test decides. */
async function start(more: Partial<GatewayOptions> = {}) {
  const recorded: string[] = []
  const messages: string[] = []
  const stored: SessionEvent[] = []
  let answer: (response: ServerResponse, id: string) => unknown = status(200)
  const server = createServer(async (incoming, response) => {
    const pieces: Buffer[] = []
    for await (const piece of incoming) pieces.push(piece as Buffer)
    if (incoming.url === '/readyz') return answer(response, 'ready')
    const { id = '' } = JSON.parse(Buffer.concat(pieces).toString()) as { id?: string }
    response.on('finish', () => response.statusCode === 200 && !recorded.includes(id) && recorded.push(id))
    return answer(response, id)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const gateway = new Gateway({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    query: '',
    retryMs: 10,
    storedMs: 0,
    say: async (message) => void messages.push(message),
    history: async () => [...stored],
    ...more,
  })
  onTestFinished(async () => {
    await gateway.close()
    server.closeAllConnections()
    server.close()
  })
  const answers = (next: typeof answer) => {
    answer = next
  }
  const send = async (id: string) => {
    stored.push({ ...said(id), sentAt: new Date().toISOString() })
    return await gateway.send(said(id))
  }
  return { gateway, recorded, messages, stored, answers, send }
}

test('an event that comes while an outage is made up for is not forgotten', async () => {
  let read = 0
  const late: SessionEvent[] = []
  const opened: Awaited<ReturnType<typeof start>> = await start({
    async history() {
      const now = [...opened.stored, ...late]
      // The words of this event are stored after this reading.
      if (read++ === 0) {
        await opened.gateway.send(said('late'))
        late.push(said('late'))
      }
      return now
    },
  })
  opened.answers(status(503))
  await opened.send('first')
  opened.answers(status(200))
  await vi.waitFor(() => expect(opened.recorded).toEqual(['first', 'late']))
})

test('without another event Heddle is tried again, and once more at the end', async () => {
  const { gateway, recorded, answers, send } = await start({ retryMs: 60_000 })
  answers(status(503))
  await send('first')
  answers(status(200))
  await gateway.close()
  expect(recorded).toEqual(['first'])
})

test('an event that always fails holds back no other, and is given up', async () => {
  const { recorded, messages, answers, send } = await start()
  answers(status(503))
  await send('poison')
  await send('second')
  answers((response, id) => status(id === 'poison' ? 500 : 200)(response))
  await vi.waitFor(() => expect(messages).toHaveLength(2))
  expect(messages[1]).toContain('could not record')
  await vi.waitFor(async () => expect(await send('third')).toEqual({}))
  expect(recorded.filter((id) => id !== 'third')).toEqual(['second'])
})

test('a history that cannot be read is no empty one', async () => {
  let read = 0
  const { recorded, stored, answers, send } = await start({
    async history() {
      if (read++ === 0) throw new Error('locked')
      return [...stored]
    },
  })
  answers(status(503))
  await send('first')
  answers(status(200))
  await vi.waitFor(() => expect(recorded).toEqual(['first']))
})

test('an address that cannot be read is said once, and fails nothing', async () => {
  const { messages, send } = await start({ url: 'not an address' })
  expect([await send('first'), await send('second')]).toEqual([null, null])
  expect(messages).toEqual([expect.stringContaining('HEDDLE_URL')])
})

test('a failed result of a server stays as it is', () => {
  const content = [{ type: 'text', text: 'denied' }]
  expect([outputOf({ content, isError: true }).isError, outputOf({ content }).isError]).toEqual([true, false])
})

test('a text that could not be fetched is asked for again at the next request', async () => {
  const { gateway, answers } = await start()
  const resumed = new Resumed(gateway)
  const info = { id: 'm1', sessionID: 's', role: 'user' }
  const summary = { info: { id: 'm2', sessionID: 's', role: 'assistant', summary: true, parentID: 'm1' }, parts: [] }
  const request = async () => {
    const messages = [{ info, parts: [{ type: 'compaction' }] }, summary] as unknown as Parameters<Resumed['add']>[0]
    await resumed.add(messages)
    return messages[0]?.parts.length
  }
  answers(status(400))
  expect(await request()).toBe(1)
  answers((response) => response.end('{"text":"the constraints"}'))
  expect(await request()).toBe(2)
})
