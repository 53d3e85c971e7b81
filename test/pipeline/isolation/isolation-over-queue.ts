import { projectIdOf, threadIdOf } from '@heddle/core'
import { type Attempt, forgedReference, type NamedAttempt } from './isolation-attempt.js'

/** The SDK of trusted services: it has the servers' credentials, and still a client shows only its own project. */
function sdk(name: string, ask: (attempt: Attempt) => Promise<unknown>): NamedAttempt {
  return { name: `queue: ${name}`, run: async (attempt) => JSON.stringify(await ask(attempt)) ?? '' }
}

function work(name: string, ask: (attempt: Attempt) => Promise<unknown>): NamedAttempt {
  return { ...sdk(name, ask), isWork: true }
}

export const queueAttempts: readonly NamedAttempt[] = [
  sdk('context', ({ attacker, victim, pick }) => attacker.client.contexts.find(pick(victim.contextIds))),
  sdk('show', ({ attacker, victim, pick }) => attacker.client.contexts.get(pick(victim.contextIds))),
  sdk('diff', ({ attacker, victim, pick }) =>
    attacker.client.contexts.diff(pick(attacker.contextIds), pick(victim.contextIds)),
  ),
  sdk('at', ({ attacker, victim }) =>
    attacker.client.contexts.at({ thread: victim.thread, at: '2100-01-01T00:00:00Z' }),
  ),
  sdk('recall', (a) => a.attacker.client.recall({ ref: forgedReference(a), thread: a.victim.thread })),
  sdk('plan', ({ attacker, victim }) => attacker.client.contexts.planPruning({ thread: victim.thread })),
  sdk('archive', ({ attacker, victim }) => attacker.client.archive.list({ thread: victim.thread })),
  sdk('snapshot', ({ attacker, victim }) => attacker.client.snapshots.get(victim.snapshotId)),
  sdk('restore', ({ attacker, victim }) => attacker.client.snapshots.restore(victim.snapshotId)),
  sdk('snapshots', ({ attacker, victim, pick }) =>
    attacker.client.snapshots.history(pick([attacker, victim]).agent, { cursor: pick(victim.cursors) }),
  ),
  sdk('export', ({ attacker, victim }) => wholeOf(attacker.client.threads.export(victim.thread))),
  sdk('loop', ({ attacker, victim }) => attacker.client.iterations.loop(victim.thread)),
  sdk('items', ({ attacker, victim }) => attacker.client.items.listOfThread(victim.thread)),
  sdk('processes', ({ attacker, victim }) => attacker.client.processes.list(victim.thread)),
  sdk('keys', ({ attacker }) => attacker.client.keys.list()),
  sdk('revoke', ({ attacker, victim }) => attacker.client.keys.revoke(victim.keyId)),
  sdk('key modes', ({ attacker, victim }) => attacker.client.keys.update(victim.keyId, { proxyMode: 'observe' })),
  sdk('dead letters', ({ attacker }) => attacker.client.deadLetters.list()),
  // Jobs of the attacker's project about the victim's data.
  work('assemble job', async ({ pipeline: { queues }, attacker, victim, pick }) => {
    const projectId = projectIdOf(attacker.project)
    const contextId = pick(victim.contextIds)
    await queues.add('assemble', { projectId, contextId, replyTo: queues.inbox })
    return await attacker.client.contexts.find(contextId)
  }),
  work('snapshot job', async ({ pipeline: { queues }, attacker, victim }) => {
    const projectId = projectIdOf(attacker.project)
    await queues.add('assemble', { projectId, snapshotId: victim.snapshotId, replyTo: queues.inbox })
    return await attacker.client.snapshots.history(attacker.agent)
  }),
  work('wake', async ({ pipeline, attacker, victim, pick }) => {
    const threadId = threadIdOf(projectIdOf(victim.project), victim.thread)
    const stage = pick(['prune', 'summarize', 'embed'] as const)
    await pipeline.queues.wake(stage, { projectId: projectIdOf(attacker.project), threadId })
    return await attacker.client.search({ query: 'pelican', limit: 500 })
  }),
  // Under ids that the victim has used: they belong to the attacker, and reveal nothing of the victim's.
  work('ingest of taken ids', async ({ attacker, victim, pick }) => {
    const thread = `forged-${pick([0, 1, 2])}`
    const messages = [{ id: pick(victim.messageIds), role: 'user' as const, content: 'mine' }]
    await attacker.client.messages.append({ agent: attacker.agent, thread, messages })
    return await attacker.client.messages.list({ thread })
  }),
]

async function wholeOf(lines: AsyncIterable<string>): Promise<string[]> {
  const whole: string[] = []
  for await (const line of lines) whole.push(line)
  return whole
}
