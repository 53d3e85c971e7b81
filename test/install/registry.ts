import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { runServer } from 'verdaccio'

export interface Registry {
  readonly url: string
  close(): Promise<void>
}

/**
 * A registry on a free port of this machine, with an empty storage, that accepts Heddle's packages without a login. All other
 * packages come from npm's configured registry: only the scope is resolved here.
 */
export async function startRegistry(folder: string): Promise<Registry> {
  const config = {
    configPath: join(folder, 'verdaccio.yaml'),
    storage: join(folder, 'storage'),
    uplinks: {},
    packages: { '@heddle/*': { access: ['$all'], publish: ['$all'], unpublish: ['$all'] } },
    max_body_size: '100mb',
    web: { enable: false },
    log: { type: 'stdout', format: 'json', level: 'fatal' },
  }
  const server = (await runServer(config as unknown as string)) as Server
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
