import { createClient, type RemoteClient } from '@heddle/client/http'
import type { Pipeline } from '../support.js'
import type { Served } from './http-support.js'

/** The same interface over the queue and over HTTP, each in a project of its own. */
export const transports: readonly {
  readonly transport: string
  /** @param suite distinguishes the projects of one file from those of another */
  open(on: { pipeline: Pipeline; http: Served }, suite: string): Promise<RemoteClient>
}[] = [
  { transport: 'the queue', open: async ({ pipeline }, suite) => pipeline.clientOf(`${suite}-queue`) },
  {
    transport: 'HTTP',
    async open({ pipeline, http }, suite) {
      const { key } = await pipeline.clientOf(`${suite}-http`).keys.create({ name: 'sdk', role: 'admin' })
      return createClient({ url: http.url, key })
    },
  },
]
