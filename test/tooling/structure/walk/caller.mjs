import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

/*
 * A program that uses the client of the checkout over HTTP. Its parent sends `build` for each context that it is to request,
 * and hears when the context has been delivered.
 */

const { HEDDLE_WALK_ROOT: root, HEDDLE_WALK_URL: url } = process.env
const { resolve } = createRequire(`${root}/packages/cli/package.json`)
const { createClient } = await import(pathToFileURL(resolve('@heddle/client/http')).href)
const client = createClient({ url })

process.on('message', async (message) => {
  if (message !== 'build') return
  const { id } = await client.contexts.build({ thread: 'walk', message: 'And now?', budget: 20_000 })
  process.send?.({ delivered: id, atMs: performance.timeOrigin + performance.now() })
})
process.channel?.ref()
process.send?.({ isReady: true })
