import type { compactionOperations, threadOperations, threadTransferOperations } from '@heddle/contracts'
import { EventLoopYielder } from '@heddle/runtime'
import type { Handlers } from '../http/handler.js'
import { readPrefer } from '../http/prefer.js'
import { readableBy } from './compressed.js'
import { erase } from './erasing.js'

export const threadHandlers: Handlers<typeof threadOperations> = {
  putThread: ({ client, params, body }) => client.threads.put(params.thread, body),
  getThread: ({ client, params }) => client.threads.get(params.thread),
  forkThread: ({ client, params, body }) => client.threads.fork(params.thread, body),
  compareThreads: ({ client, params }) => client.threads.compare(params.thread, params.other),
  getResumeText: ({ client, params }) => client.threads.resumeText(params.thread),
  deleteThread: (request) => erase(request, (how) => request.client.threads.delete(request.params.thread, how)),
  listThreads: ({ client, query }) => client.threads.list(query),
  putProcess: ({ client, params, body }) => client.processes.put(params.thread, params.process, body),
  getProcess: ({ client, params }) => client.processes.get(params.thread, params.process),
  listProcesses: ({ client, params, query }) => client.processes.list(params.thread, query),
}

export const compactionHandlers: Handlers<typeof compactionOperations> = {
  getPrunePlan: ({ client, params, query }) => client.contexts.planPruning({ ...query, ...params }),
  async compress({ client, rights, params, body, headers, signal }) {
    const { waitMs: deadlineMs } = readPrefer(headers['prefer'])
    return readableBy(rights, await client.contexts.compress({ ...body, ...params, deadlineMs, signal }))
  },
  uncompact: ({ client, params, body }) => client.contexts.uncompact({ ...body, ...params }),
  pinMessages: ({ client, params, body }) => client.pins.set({ ...body, ...params }),
  unpinMessages: ({ client, params, query }) => client.pins.remove({ ...query, ...params }),
  listSummaries: ({ client, params, query }) => client.summaries.list({ ...query, ...params }),
  listSummaryMessages: ({ client, params, query }) => client.summaries.messages({ ...query, ...params }),
  getLedger: ({ client, params, query }) => client.threads.ledger(params.thread, query),
  getLoss: ({ client, params, query }) => client.summaries.loss({ ...query, ...params }),
  listPins: async ({ client, params }) => ({ ...(await client.pins.list(params)), nextCursor: null }),
}

export const threadTransferHandlers: Handlers<typeof threadTransferOperations> = {
  exportThread: async ({ client, params }) => client.threads.export(params.thread),
  importThread: ({ client, query, body }) => client.threads.import(() => linesOf(body), query),
}

/** The lines of a text. Each is parsed before the next is read, so other requests run in between. */
async function* linesOf(text: string): AsyncGenerator<string> {
  const yielder = new EventLoopYielder()
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from)
    const to = end === -1 ? text.length : end
    await yielder.next()
    yield text.slice(from, to)
    from = to + 1
  }
}
