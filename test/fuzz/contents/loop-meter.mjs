// Loaded before `heddle up`. It measures the CPU time of the event loop's thread between two iterations; to each message it
// replies with the longest since the previous one. Other load on the machine does not count. Only Linux reports the CPU time of
// one thread; elsewhere it is wall-clock time.

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
