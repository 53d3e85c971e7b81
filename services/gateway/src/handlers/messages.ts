import type { AppendMessages } from '@heddle/client/interface'
import type { messageOperations, toolUseOperations } from '@heddle/contracts'
import type { Handlers } from '../http/handler.js'
import { createIds, readKey } from '../http/idempotency.js'
import { readPrefer } from '../http/prefer.js'
import { erase } from './erasing.js'

export const messageHandlers: Handlers<typeof messageOperations & typeof toolUseOperations> = {
  async appendMessages({ client, params, body, headers, signal }) {
    const { ack = 'stored' } = body
    const { waitMs, idsAreNew } = readPrefer(headers['prefer'])
    const appended = await client.messages.append({
      // Only the frame of the body has been parsed: the client parses messages by their format.
      ...(body as AppendMessages & { agent: string; contextId?: string }),
      thread: params.thread,
      ack,
      idsAreNew,
      // Refuse at once instead of waiting, because a waiting request holds its whole body in memory.
      onBusy: 'fail',
      signal,
      deadlineMs: waitMs,
      idempotencyKey: readKey(headers['idempotency-key']),
    })
    return { status: ack === 'queued' ? 202 : 200, body: appended }
  },
  listMessages: ({ client, params, query }) => client.messages.list({ ...query, ...params }),
  eraseMessages: ({ client, params, query, headers }) =>
    erase({ headers, query: {} }, ({ wait }) => client.messages.erase({ ...query, ...params }, { wait })),
  listAgentMessages: ({ client, params, query }) => client.messages.ofAgent({ ...query, ...params }),
  listToolUse: ({ client, params, query }) => client.messages.toolUse(params.thread, query),
  listLargestMessages: ({ client, params, query }) => client.messages.largest({ ...query, ...params }),
  findMessages: ({ client, query }) => client.messages.find(query),
  async appendIterations({ client, params, body, headers, signal }) {
    const { agent, ack = 'stored' } = body
    const { waitMs } = readPrefer(headers['prefer'])
    const idOf = createIds(headers['idempotency-key'], 'iteration', params.thread)
    const iterations = body.iterations.map((iteration, index) => ({ ...iteration, id: iteration.id ?? idOf(index) }))
    const { thread } = params
    const given = { agent, thread, iterations, ack, onBusy: 'fail', deadlineMs: waitMs, signal } as const
    return { status: ack === 'queued' ? 202 : 200, body: await client.iterations.append(given) }
  },
  getRunState: ({ client, params }) => client.iterations.loop(params.thread),
  listIterations: ({ client, params, query }) => client.iterations.list(params.thread, query),
}
