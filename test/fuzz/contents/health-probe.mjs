// A thread that requests the health of a server repeatedly, so that the work of its own process does not count. To
// each message it replies with the longest answer since the previous one, including the current request.

import { Agent, get } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

const PAUSE_MS = 3
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
let asked = 0
let isEnding = false
parentPort.on('message', (message) => {
  if (message === null) isEnding = true
  else asked++
})

let worstMs = 0
while (!isEnding) {
  const askedBefore = asked
  worstMs = Math.max(worstMs, await answerMs())
  for (let left = askedBefore; left > 0; left--) {
    parentPort.postMessage(worstMs)
    asked--
    worstMs = 0
  }
  await setTimeout(PAUSE_MS)
}
agent.destroy()
parentPort.close()

function answerMs() {
  const startedMs = performance.now()
  return new Promise((resolve, reject) => {
    const request = get(new URL('/healthz', workerData.url), { agent }, (response) => {
      response.resume()
      response.once('end', () => resolve(performance.now() - startedMs))
    })
    request.once('error', reject)
  })
}
