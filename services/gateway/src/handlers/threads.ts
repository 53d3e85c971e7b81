import type { threadOperations } from '@heddle/contracts'
import type { Handlers } from '../http/handler.js'
import { readPrefer } from '../http/prefer.js'

export const threadHandlers: Handlers<typeof threadOperations> = {
  putThread: ({ client, params, body }) => client.threads.put(params.thread, body),
  getThread: ({ client, params }) => client.threads.get(params.thread),
  async deleteThread({ client, params, query, headers }) {
    const { respondAsync } = readPrefer(headers['prefer'])
    const erased = await client.threads.delete(params.thread, { wait: !respondAsync, reuse: query.reuse })
    return { status: erased.finished ? 200 : 202, body: erased }
  },
  listThreads: ({ client, query }) => client.threads.list(query),
  putProcess: ({ client, params, body }) => client.processes.put(params.thread, params.process, body),
  getProcess: ({ client, params }) => client.processes.get(params.thread, params.process),
  listProcesses: ({ client, params, query }) => client.processes.list(params.thread, query),
}
