// Loaded before `heddle up`. It measures how long the loop's own thread computed between two of its turns; to each message it
// answers with the longest since the one before. How busy the machine is does not count. Only Linux says what one thread
// computed; elsewhere it is the time by the clock.

import { readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const EVERY_MS = 5

if (isMainThread && process.send !== undefined) {
  let lastMs = computedMs()
  let longestMs = 0
  setInterval(() => {
    const nowMs = computedMs()
    longestMs = Math.max(longestMs, nowMs - lastMs)
    lastMs = computedMs()
  }, EVERY_MS).unref()
  process.on('message', () => {
    process.send(longestMs)
    longestMs = 0
  })
  // It must not keep the process alive.
  process.channel.unref()
}

function computedMs() {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return performance.now()
  }
}
