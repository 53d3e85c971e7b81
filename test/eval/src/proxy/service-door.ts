import { once } from 'node:events'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { Client } from '@heddle/client/interface'
import type { ProxyMode } from '@heddle/contracts'
import { proxyBackendOf } from '@heddle/host'
import { createProxy, type ProxyBackend } from '@heddle/proxy'
import { createLogger, systemClock } from '@heddle/runtime'
import type { Store } from '@heddle/store'
import { startLocalServer } from '@heddle/test-support/servers/local-server'
import type { Door } from './door.js'
import { replyBody } from './reply-body.js'
import type { ReplaySession } from './session.js'

/** The service and its provider for the replay of one session after another. */
export interface ProxyService {
  /**
   * A new conversation through the service.
   *
   * @param name a part of that of its thread, if two conversations of a session have one mode
   */
  door(session: ReplaySession, mode: ProxyMode, name?: string): Door
  /** Requests that the service sent as they came, by its reason. */
  readonly passed: ReadonlyMap<string, number>
  readMetrics(): Promise<string>
  /** Goes on with another process, which knows what is in the store. */
  restart(): Promise<void>
  close(): Promise<void>
}

interface Arrived {
  readonly body: Buffer
  readonly response: ServerResponse
}

/** The service has no further work if nothing of it was running for this long. */
const QUIET_MS = 25

/**
 * Starts the proxy with a store, and the server to which it sends requests: that one holds each reply until the replay has its
 * tokens.
 *
 * @param clock the time of the replay; durations are real
 */
export async function startProxyService(
  { client, store }: { readonly client: Client; readonly store: Store },
  project: string,
  clock: { nowMs(): number },
): Promise<ProxyService> {
  const running = new Running()
  const stored = proxyBackendOf({ store, clientOf: () => client })
  let epoch = 0
  const backend: ProxyBackend = {
    clientOf: () => running.watched(client),
    states: {
      load: (...given) => running.watch(() => stored.states.load(...given)),
      save: (...given) => running.watch(() => stored.states.save(...given)),
    },
    recordRequest: (...given) => {
      epoch = given[1].epoch
      return running.watch(() => stored.recordRequest(...given))
    },
  }
  let arrived: (request: Arrived) => void = () => {}
  const provider = await startLocalServer((incoming, response) => {
    void bytesOf(incoming).then((body) => arrived({ body, response }))
  })
  const open = () =>
    createProxy({
      upstreams: {
        anthropic: { url: provider.url, protocol: 'anthropic' },
        openai: { url: `${provider.url}/v1`, protocol: 'openai' },
      },
      backend: () => backend,
      // A replay measures what is sent, not how soon.
      lateMs: 30_000,
      log: createLogger({ level: 'error', name: 'eval' }),
      clock: { ...systemClock, nowMs: () => clock.nowMs() },
    })
  let proxy = open()
  const server = await startLocalServer((incoming, response) =>
    proxy.handle(incoming, response, { enter: async () => ({ project }) }),
  )
  const passed = new Map<string, number>()

  return {
    passed,
    readMetrics: () => proxy.readMetrics(),
    async restart() {
      await proxy.close()
      proxy = open()
    },
    door(session, mode, name = mode) {
      const path = session.protocol === 'anthropic' ? '/anthropic/v1/messages' : '/openai/v1/chat/completions'
      const headers = {
        'content-type': 'application/json',
        'x-heddle-mode': mode,
        'x-heddle-thread': `${name}-${session.name}`,
      }
      let epochBefore = 0
      let open: { response: ServerResponse; answered: Promise<IncomingMessage> } | null = null
      return {
        async send(_request, body) {
          const sending = request(`${server.url}${path}`, { method: 'POST', headers, agent: false })
          const arrival = new Promise<Arrived>((resolve) => {
            arrived = resolve
          })
          const answered = once(sending, 'response').then(([answer]) => answer as IncomingMessage)
          sending.end(body)
          const { body: sent, response } = await arrival
          open = { response, answered }
          return { body: sent.toString(), isNewEpoch: false }
        },
        async replied(reply, usage) {
          if (open === null) return null
          open.response.writeHead(200, { 'content-type': 'application/json' })
          open.response.end(replyBody(session, reply, usage))
          const answer = await open.answered
          await bytesOf(answer)
          await running.untilQuiet()
          const given = String(answer.headers['x-heddle-mode'])
          if (given.startsWith('passed')) passed.set(given, (passed.get(given) ?? 0) + 1)
          const isNewEpoch = epoch !== epochBefore
          epochBefore = epoch
          return { isNewEpoch }
        },
      }
    },
    async close() {
      await server.close()
      await proxy.close()
      await provider.close()
    },
  }
}

/** Calls to the store that the service has not finished. */
class Running {
  #calls = 0
  #quietSinceMs = performance.now()

  watched(client: Client): Pick<Client, 'messages' | 'contexts' | 'recall'> {
    const { messages, contexts } = client
    return {
      messages: { ...bound(messages), append: (...given) => this.watch(() => messages.append(...given)) },
      contexts: { ...bound(contexts), build: (...given) => this.watch(() => contexts.build(...given)) },
      recall: (request) => client.recall(request),
    }
  }

  watch<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#calls++
    return work().finally(() => {
      this.#calls--
      this.#quietSinceMs = performance.now()
    })
  }

  async untilQuiet(): Promise<void> {
    this.#quietSinceMs = performance.now()
    while (this.#calls > 0 || performance.now() - this.#quietSinceMs < QUIET_MS) await systemClock.wait(5)
  }
}

function bound<Part extends object>(part: Part): Part {
  return Object.assign(Object.create(Object.getPrototypeOf(part)), part) as Part
}

async function bytesOf(incoming: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of incoming) parts.push(part as Buffer)
  return Buffer.concat(parts)
}
