import { type Snapshot, validationError } from '@heddle/contracts'
import type { ChatClient } from './client.js'
import { CHAT_FIELDS_MAX, type ChatReply, chatReply } from './reply.js'

/** `/context clear`: clears all threads of the agent. */
export async function clearCommand(client: ChatClient, agent: string, rest: string): Promise<ChatReply> {
  takesNothing('clear', rest)
  const { clearedAt, threads } = await client.agents.clear(agent)
  return chatReply('Context cleared', `${agent} sees only messages from now on. Nothing was deleted.`, [
    { name: 'Since', value: clearedAt },
    { name: 'Threads', value: String(threads) },
  ])
}

/** `/context save [description]`: saves the window without clearing it. */
export async function saveCommand(client: ChatClient, agent: string, rest: string): Promise<ChatReply> {
  const description = rest.trim()
  const saved = await client.snapshots.save({ agent, ...(description !== '' && { description }) })
  return chatReply('Context saved', saved.summary, [
    { name: 'Snapshot', value: saved.id },
    ...(saved.description === null ? [] : [{ name: 'Description', value: saved.description }]),
    { name: 'Messages', value: String(saved.messageCount) },
    { name: 'File', value: saved.fileName },
  ])
}

/** `/context history [agent]`: lists as many snapshots as a reply has fields, newest first. */
export async function historyCommand(client: ChatClient, agent: string, rest: string): Promise<ChatReply> {
  const named = rest.trim() === '' ? agent : rest.trim()
  const { items, nextCursor } = await client.snapshots.history(named, { limit: CHAT_FIELDS_MAX })
  if (items.length === 0) return chatReply(`No snapshots of ${named}`, 'Save one with /context save.')
  const more = nextCursor === null ? '' : `, the newest ${items.length}`
  return chatReply(`Snapshots of ${named}`, `Newest first${more}.`, items.map(fieldOf))
}

function fieldOf({ id, timestamp, description, summary, messageCount }: Snapshot) {
  const title = description === null ? timestamp : `${timestamp} · ${description}`
  return { name: title, value: `${id} · ${messageCount} messages\n${summary}` }
}

/** `/context restore <snapshot id>`: restores messages into the windows of their threads. */
export async function restoreCommand(client: ChatClient, _agent: string, rest: string): Promise<ChatReply> {
  const id = rest.trim()
  if (id === '') throw validationError('snapshot', 'is required', id, '/context history lists the ids')
  const { messages, restored, present, erased, threads } = await client.snapshots.restore(id)
  return chatReply('Context restored', `${restored} of ${messages} messages were restored.`, [
    { name: 'There already', value: String(present) },
    ...(erased > 0 ? [{ name: 'Erased since', value: String(erased) }] : []),
    { name: 'Threads', value: threads.join(', ') },
  ])
}

function takesNothing(command: string, rest: string): void {
  if (rest.trim() !== '') throw validationError('command', `/context ${command} takes no arguments`, rest.trim())
}
