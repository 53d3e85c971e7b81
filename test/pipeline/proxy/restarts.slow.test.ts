import { projectIdOf, threadIdOf } from '@heddle/core'
import type { ProxyBackend, ProxyOptions, StateStore } from '@heddle/proxy'
import { loadProxiedConversation } from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'
import { callRaw, type ProxiedServer, storingIn, withProxy } from './proxy-support.js'
import { conversation, type Message, page } from './read-pages.js'

let pipeline: Pipeline

beforeAll(async () => {
  // One server of queues: the states of conversations are in the store alone.
  pipeline = await openPipeline('postgres')
  await pipeline.start()
})
afterAll(() => pipeline.close())

/** The store answers within this time on any machine that tests run on. */
const LATE_MS = 20_000

interface Asked {
  readonly mode?: string
  readonly headers?: readonly string[]
  readonly system?: string
}

async function ask(
  { anthropicUrl, upstream }: ProxiedServer,
  messages: readonly Message[],
  { mode = 'stub', headers = ['x-heddle-thread', 'pages'], system }: Asked = {},
): Promise<string> {
  const answer = await callRaw(`${anthropicUrl}/v1/messages`, {
    headers: ['x-heddle-mode', mode, 'content-type', 'application/json', ...headers],
    body: JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 100, system, messages }),
  })
  expect(answer.status).toBe(200)
  return upstream.requests.at(-1)?.body.toString() ?? ''
}

/** The body up to the end of its list of messages. */
const prefixOf = (body: string) => body.slice(0, -2)
const resultIn = (body: string, index: number): string => JSON.parse(body).messages[index].content[0].content as string

function proxied(project: string, work: (served: ProxiedServer) => Promise<void>, options: Partial<ProxyOptions> = {}) {
  const proxy = { backend: storingIn(pipeline), lateMs: LATE_MS, ...options }
  return withProxy(work, { proxy, gateway: { project } })
}

function stateOf(project: string, thread = 'pages') {
  const projectId = projectIdOf(project)
  const place = { kind: 'thread' as const, threadId: threadIdOf(projectId, thread) }
  return pipeline.store.inProject(projectId, (tx) => loadProxiedConversation(tx, place))
}

/** Waits until the store has the state after a number of requests. */
async function saved(project: string, requests: number, thread?: string): Promise<void> {
  await waitFor(async () => {
    const { state } = (await stateOf(project, thread)) ?? {}
    return (state as { requests: number } | undefined)?.requests === requests
  })
}

async function statesIn({ gateway }: ProxiedServer, outcome: string): Promise<number> {
  const { body } = await callRaw(`${gateway.url}/metrics`, { method: 'GET' })
  const line = new RegExp(`heddle_proxy_states_total\\{outcome="${outcome}"\\} (\\d+)`).exec(body.toString())
  return Number(line?.[1] ?? 0)
}

/** The backend of a pipeline with its states changed. */
function withStates(change: (states: StateStore) => Partial<StateStore>): () => ProxyBackend {
  return () => {
    const backend = storingIn(pipeline)()
    const states = backend.states as StateStore
    return { ...backend, states: { ...states, ...change(states) } }
  }
}

describe('a proxy that is started again', () => {
  test('sends the same bytes of a conversation with shortened results', async () => {
    let before = ''
    await proxied('restarted', async (served) => {
      await ask(served, conversation(1))
      before = await ask(served, conversation(2))
      await saved('restarted', 2)
    })
    await proxied('restarted', async (served) => {
      const after = await ask(served, conversation(3))
      expect(after.startsWith(prefixOf(before))).toBe(true)
      expect(resultIn(after, 2)).toContain('left out by Heddle')
      expect(resultIn(after, 6)).toContain('left out by Heddle')
      expect(await statesIn(served, 'resumed')).toBe(1)
      await saved('restarted', 3)
    })
    expect(await stateOf('restarted')).toMatchObject({ state: { number: 1, requestsInEpoch: 3 } })
  })

  test('stores what the process before it did not, although replies were stored with more than requests repeat', async () => {
    const project = 'resent'
    const history = conversation(6)
    const turn = async (served: ProxiedServer, steps: number) => {
      served.upstream.respond((_, response) => {
        const { content } = history[2 * steps + 1] as Message
        const usage = { input_tokens: 100, output_tokens: 20 }
        const reply = {
          id: `msg_${steps}`,
          type: 'message',
          role: 'assistant',
          model: 'claude-sonnet-4-5',
          content,
          usage,
        }
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply))
      })
      await ask(served, history.slice(0, 2 * steps + 1), { mode: 'observe' })
    }
    const client = pipeline.clientOf(project)
    const reaches = (seq: number) => waitFor(async () => (await client.threads.get('pages')).headSeq >= seq)
    await proxied(project, async (served) => {
      await turn(served, 0)
      await turn(served, 1)
      await reaches(4)
    })
    await proxied(project, async (served) => {
      // Two turns that no process stored come between.
      await turn(served, 4)
      await turn(served, 5)
      await reaches(history.length - 1)
    })
    const { items } = await client.messages.list({ thread: 'pages', limit: 100 })
    const results = items.flatMap(({ toolCallId }) => toolCallId ?? [])
    expect(results).toEqual([0, 1, 2, 3, 4].map((step) => `toolu_${step}`))
    expect(items.filter(({ usage }) => usage != null)).toHaveLength(4)
    expect(await client.deadLetters.list({})).toEqual([])
  })

  test('sends the same summary in place of a history', async () => {
    // The first result is shortened, which pays for the summary; the others stay whole.
    const policy = { keptTokens: 3_000, summaryTokens: 1_000, coverTokensMin: 3_000, resultTokensMin: 1_500 }
    const options = { policy: { ...policy, oldResultTokensMin: 50_000 } }
    const long = (steps: number) => {
      const [question, call, , ...rest] = conversation(steps, 120)
      return [question, call, conversation(1, 2_000)[2], ...rest] as Message[]
    }
    const isCovered = (body: string) => body.includes('condensed by Heddle')
    let before = ''
    let steps = 1
    await proxied(
      'restarted-compact',
      async (served) => {
        const prepared = async () =>
          (await callRaw(`${served.gateway.url}/metrics`, { method: 'GET' })).body
            .toString()
            .includes('heddle_proxy_covers_total{outcome="prepared"}')
        for (; steps < 40 && !isCovered(before); steps++) {
          before = await ask(served, long(steps), { mode: 'compact' })
          if (steps > 20 && !(await prepared())) await waitFor(prepared, { timeoutMs: 60_000 })
        }
        expect(isCovered(before)).toBe(true)
        await saved('restarted-compact', steps - 1)
      },
      options,
    )
    await proxied(
      'restarted-compact',
      async (served) => {
        for (let more = 0; more < 2; more++) {
          const after = await ask(served, long(steps++), { mode: 'compact' })
          expect(after.startsWith(prefixOf(before))).toBe(true)
          before = after
        }
      },
      options,
    )
  }, 120_000)

  test('finds the thread of a conversation without a name by its last request', async () => {
    const unnamed = { headers: [] }
    await proxied('restarted-unnamed', async (served) => {
      await ask(served, conversation(1), unnamed)
      const client = pipeline.clientOf('restarted-unnamed')
      await waitFor(async () => (await client.threads.list({})).items.length === 1)
      const [thread] = (await client.threads.list({})).items
      await saved('restarted-unnamed', 1, thread?.name)
    })
    await proxied('restarted-unnamed', async (served) => {
      await ask(served, conversation(2), unnamed)
      expect(await statesIn(served, 'resumed')).toBe(1)
    })
    const { items } = await pipeline.clientOf('restarted-unnamed').threads.list({})
    expect(items).toHaveLength(1)
  })

  test('continues the last state that was written, if it was killed before the next one was', async () => {
    let before = ''
    const state = { isKilled: false }
    const never = () => new Promise<never>(() => undefined)
    const backend = withStates(({ save }) => ({
      save: (project, row) => (state.isKilled ? never() : save(project, row)),
    }))
    await proxied(
      'killed',
      async (served) => {
        before = await ask(served, conversation(2))
        await saved('killed', 1)
        state.isKilled = true
        await ask(served, conversation(3))
      },
      { backend },
    )
    await proxied('killed', async (served) => {
      const after = await ask(served, conversation(4))
      expect(after.startsWith(prefixOf(before))).toBe(true)
      // Whether a result is shortened is decided in the same way by every process.
      expect(resultIn(after, 6)).toContain('left out by Heddle')
    })
  })

  test('sends a request as a first one if the state is late, and continues the state with the next one', async () => {
    let before = ''
    await proxied('late', async (served) => {
      before = await ask(served, conversation(2))
      await saved('late', 1)
    })
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const backend = withStates(({ load }) => ({
      load: async (project, place) => {
        await gate
        return await load(project, place)
      },
    }))
    await proxied(
      'late',
      async (served) => {
        expect(resultIn(await ask(served, conversation(3)), 2)).toBe(page(0))
        expect(await statesIn(served, 'late')).toBe(1)
        open()
        await waitFor(async () => (await statesIn(served, 'resumed')) === 1)
        const after = await ask(served, conversation(4))
        expect(after.startsWith(prefixOf(before))).toBe(true)
      },
      { backend, lateMs: 50 },
    )
  })

  test.each([
    ['fails', () => Promise.reject(new Error('away'))],
    ['hangs', () => new Promise<never>(() => undefined)],
  ])('answers every request while the store of states %s', async (how, away) => {
    const backend = withStates(() => ({ load: away, save: away }))
    await proxied(
      `states-${how}`,
      async (served) => {
        for (const steps of [1, 2, 3]) expect(await ask(served, conversation(steps))).toContain(`Page ${steps - 1}.`)
      },
      { backend, lateMs: 50 },
    )
  })
})

describe('two proxies', () => {
  test('that alternate in one conversation send the same bytes', async () => {
    await proxied('replicas', (one) =>
      proxied('replicas', async (other) => {
        let before = ''
        for (let steps = 1; steps <= 6; steps++) {
          const after = await ask(steps % 2 === 0 ? one : other, conversation(steps))
          if (steps > 1) expect(after.startsWith(prefixOf(before))).toBe(true)
          before = after
          await saved('replicas', steps)
        }
        expect(await stateOf('replicas')).toMatchObject({ state: { number: 1, requests: 6 } })
        expect((await statesIn(one, 'resumed')) + (await statesIn(other, 'resumed'))).toBe(5)
      }),
    )
  })

  test('that answer at once agree on the state of the one that sent last', async () => {
    await proxied('at-once', (one) =>
      proxied('at-once', async (other) => {
        await ask(one, conversation(1))
        await saved('at-once', 1)
        await Promise.all([one, other, one, other].map((served) => ask(served, conversation(2))))
        // Requests that overlap may be sent as they came; what follows is sent in the form of the last one.
        const before = await ask(one, conversation(3))
        const isLast = async (messages: number) => {
          const { marks } = ((await stateOf('at-once'))?.state ?? {}) as { marks?: { received: { at: number } } }
          return marks?.received.at === messages
        }
        await waitFor(() => isLast(conversation(3).length))
        const after = await ask(other, conversation(4))
        await waitFor(() => isLast(conversation(4).length))
        expect(after.startsWith(prefixOf(before))).toBe(true)
        expect((await ask(one, conversation(5))).startsWith(prefixOf(after))).toBe(true)
      }),
    )
  })
})

describe('an erasure', () => {
  test('of a thread removes its state, which does not come back', async () => {
    await proxied('erased', async (served) => {
      await ask(served, conversation(1))
      await saved('erased', 1)
      await pipeline.clientOf('erased').threads.delete('pages')
      expect(await stateOf('erased')).toBeNull()
      await ask(served, conversation(2))
      await waitFor(async () => (await statesIn(served, 'gone')) >= 1)
      expect(await stateOf('erased')).toBeNull()
    })
  })

  test('of a message removes the state, and the conversation begins a new epoch', async () => {
    await proxied('erased-message', async (served) => {
      await ask(served, conversation(1))
      await saved('erased-message', 1)
      const client = pipeline.clientOf('erased-message')
      await waitFor(async () => (await client.threads.get('pages')).headSeq >= 3)
      await client.messages.erase({ thread: 'pages', fromSeq: 1, toSeq: 1 })
      expect(await stateOf('erased-message')).toBeNull()
      await ask(served, conversation(2))
      await waitFor(async () => (await statesIn(served, 'gone')) >= 1)
      await ask(served, conversation(3))
      await waitFor(async () => {
        const { state } = (await stateOf('erased-message')) ?? {}
        return (state as { number: number } | undefined)?.number === 2
      })
    })
  })
})

describe('a client that compacts by itself', () => {
  const session = ['x-claude-code-session-id', 'f2a0c9d4-0000-4000-8000-000000000001']
  const main = { headers: session, system: 'You are an interactive agent. '.repeat(40) }
  const helper = { headers: session, system: 'You look for files. '.repeat(40) }
  const summary: Message = {
    role: 'user',
    content: [
      { type: 'text', text: '<system-reminder>Today is a day.</system-reminder>' },
      { type: 'text', text: 'This session is being continued from a previous conversation that ran out of context.' },
    ],
  }
  const reply: Message = { role: 'assistant', content: 'I go on.' }
  const threads = async (project: string) =>
    (await pipeline.clientOf(project).threads.list({})).items.map(({ name, headSeq }) => ({ name, headSeq }))

  test('goes on in the thread of its session, apart from sub-agents, also after a restart', async () => {
    const project = 'compacting'
    const task = (text: string): Message => ({ role: 'user', content: text })
    await proxied(project, async (served) => {
      await ask(served, conversation(2), main)
      await waitFor(async () => (await threads(project)).some(({ headSeq }) => headSeq >= 5))
      await ask(served, [task('Find the tests.')], helper)
      await ask(served, [task('Find the docs.')], helper)
      await ask(served, [summary], main)
      await ask(served, [summary, reply, task('And now?')], main)
      await waitFor(async () => (await threads(project)).length === 3)
      const [long] = (await threads(project)).toSorted((one, other) => other.headSeq - one.headSeq)
      await saved(project, 3, long?.name)
    })
    await proxied(project, async (served) => {
      await ask(served, [summary, reply, task('And now?'), reply, task('And then?')], main)
      // A second compaction.
      const again = { ...summary, content: 'This session is being continued from a previous conversation. More.' }
      await ask(served, [again], main)
      await ask(served, [task('Find the examples.')], helper)
      await waitFor(async () => (await threads(project)).length === 4)
    })
    await waitFor(async () => {
      const sizes = (await threads(project)).map(({ headSeq }) => headSeq).toSorted((one, other) => other - one)
      // All of the history, two summaries and what followed; beside them three tasks.
      return sizes.length === 4 && (sizes[0] ?? 0) >= 9 && sizes.slice(1).every((size) => size <= 2)
    })
  })
})
