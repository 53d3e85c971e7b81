import createClient from 'openapi-fetch'
import type { paths } from './schema.js'

/*
 * A client that is made of the OpenAPI document of a gateway, by tools that know nothing of Heddle:
 *
 *   npx openapi-typescript http://127.0.0.1:4680/openapi.json -o schema.d.ts
 *   npm install openapi-fetch
 */

/** Takes an agent from its first message to a window that was cleared and brought back. */
export async function journey(baseUrl: string, { agent, thread }: { agent: string; thread: string }) {
  const heddle = createClient<paths>({ baseUrl })
  const ofAgent = { params: { path: { agent } } }
  const ofThread = { params: { path: { thread } } }

  const made = await heddle.PUT('/v1/agents/{agent}', {
    ...ofAgent,
    body: { systemPrompt: 'You keep a lighthouse.', settings: { rollingWindow: null } },
  })
  const ofItem = { params: { path: { agent, type: 'rule' as const, name: 'log' } } }
  await heddle.PUT('/v1/agents/{agent}/items/{type}/{name}', {
    ...ofItem,
    body: { text: 'Write every ship into the log.', include: 'always' },
  })
  const items = await heddle.GET('/v1/agents/{agent}/items', { params: { path: { agent }, query: { type: 'rule' } } })
  const appended = await heddle.POST('/v1/threads/{thread}/messages', {
    ...ofThread,
    body: {
      agent,
      messages: [
        { role: 'user', content: 'Which ships passed tonight?' },
        { role: 'assistant', content: 'The Meridian at nine and the Halcyon at eleven.' },
      ],
    },
  })
  const build = async () => {
    const { data, error } = await heddle.POST('/v1/threads/{thread}/contexts', {
      ...ofThread,
      body: { message: 'And after midnight?', budget: 8_000, format: 'openai-chat' },
    })
    if (error !== undefined) throw new Error(`${error.code}: ${error.detail}`)
    return data
  }
  const context = await build()
  const history = await heddle.GET('/v1/threads/{thread}/messages', {
    params: { ...ofThread.params, query: { limit: 10 } },
  })
  const ref = history.data?.items[0]?.reference ?? ''
  const inThread = { params: { path: { thread, type: 'rule' as const, name: 'log' } } }
  const held = await heddle.GET('/v1/threads/{thread}/items/{type}/{name}', inThread)
  const recalled = await heddle.POST('/v1/recall', { body: { ref, thread } })

  const saved = await heddle.POST('/v1/agents/{agent}/snapshots', {
    ...ofAgent,
    body: { description: 'the night watch' },
  })
  await heddle.POST('/v1/agents/{agent}/clear', { ...ofAgent, body: {} })
  const cleared = await build()
  const restored = await heddle.POST('/v1/snapshots/{snapshot}/restore', {
    params: { path: { snapshot: saved.data?.id ?? '' } },
  })
  const refused = await heddle.POST('/v1/recall', { body: { ref: 'msg-00000000', thread } })
  return {
    system: made.data?.systemPrompt,
    items: items.data?.items.map(({ type, name, includeMode }) => `${type} ${name} ${includeMode}`),
    held: held.data?.text,
    stored: appended.data?.stored,
    context,
    recalled: recalled.data?.content,
    snapshot: saved.data?.messageCount,
    cleared,
    restored: restored.data?.restored,
    afterwards: await build(),
    refused: refused.error?.code,
  }
}
