// A thread that requests the health of two servers in turn, so that the work of its own process does not count. To each
// message it replies with the longest answer of each since the previous one, including the current requests.

import { Agent, get } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

/** Short beside the limit of an answer; the requests of a shorter pause would be a load of their own. */
const PAUSE_MS = 10
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
let asked = 0
let isEnding = false
parentPort.on('message', (message) => {
  if (message === null) isEnding = true
  else asked++
})

let worst = [0, 0]
while (!isEnding) {
  const askedBefore = asked
  for (const [index, url] of workerData.urls.entries()) worst[index] = Math.max(worst[index], await answerMs(url))
  for (let left = askedBefore; left > 0; left--) {
    parentPort.postMessage(worst)
    asked--
    worst = [0, 0]
  }
  await setTimeout(PAUSE_MS)
}
agent.destroy()
parentPort.close()

function answerMs(url) {
  const startedMs = performance.now()
  return new Promise((resolve, reject) => {
    const request = get(new URL('/healthz', url), { agent }, (response) => {
      response.resume()
      response.once('end', () => resolve(performance.now() - startedMs))
    })
    request.once('error', reject)
  })
}
