import { createClient } from '@heddle/client/http'
import { openStore } from '@heddle/store'
import { expect, test } from 'vitest'
import { startHeldUp } from './held-up.js'

/**
 * The first build of a context of this many messages takes several times the limit below. Other load on the machine has
 * little effect, because the CPU time of one thread is measured.
 */
const MESSAGES = 2_000
const HELD_MS_MAX = 100

const words = 'the login fails with connection refused after token refresh in module auth server returns status error'

/** A conversation of an agent that runs commands. */
function session(count: number) {
  return Array.from({ length: count }, (_, index) => {
    if (index % 3 === 0) return { role: 'user' as const, content: `Request ${index}: ${words}` }
    const id = `call-${index - (index % 3)}`
    return index % 3 === 1
      ? {
          role: 'assistant' as const,
          content: words,
          toolCalls: [{ id, name: 'Bash', arguments: { command: `ls ${index}` } }],
        }
      : { role: 'tool_result' as const, content: `${words} `.repeat(8), toolCallId: id, toolName: 'Bash' }
  })
}

test('contexts of a long thread, each with another budget, block the event loop of "heddle up" no longer than other requests', async () => {
  const up = await startHeldUp()
  const client = createClient({ url: up.url })
  await client.agents.put('coder', { settings: { rollingWindow: null } })
  const messages = session(MESSAGES)
  for (let from = 0; from < messages.length; from += 500) {
    await client.messages.append({ agent: 'coder', thread: 'long', messages: messages.slice(from, from + 500) })
  }
  await client.messages.append({ agent: 'coder', thread: 'short', messages: session(3) })

  await up.beginHolds()
  const built = [16_000, 20_000, 24_000].map((budget) =>
    client.contexts.build({ thread: 'long', message: 'go on', format: 'openai-chat', budget }),
  )
  // The thread computes for seconds now; a short context overtakes it.
  const first = await Promise.race([
    client.contexts.build({ thread: 'short', message: 'go on' }).then(() => 'short'),
    ...built.map((context) => context.then(() => 'long')),
  ])
  expect(first).toBe('short')
  for (const context of await Promise.all(built)) {
    expect(context.tokensUsed).toBeLessThanOrEqual(context.budget)
    expect(context.receipt.eligible).toBe(MESSAGES)
  }
  const held = await up.longestHoldMs()
  expect(held).toBeLessThan(HELD_MS_MAX)

  await up.stop()
  const store = openStore({ url: up.databaseUrl, connectionsMax: 1 })
  try {
    const left = await store.asReconciler(
      (tx) => tx`
      select count(*)::int as count from pg_stat_activity
      where datname = current_database() and application_name like 'heddle/%'`,
    )
    expect(left).toEqual([{ count: 0 }])
  } finally {
    await store.close()
  }
})
