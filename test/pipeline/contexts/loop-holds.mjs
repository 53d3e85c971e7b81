// Loaded before `heddle up` in the test that measures the blocks of its event loop. It writes the longest CPU time of the
// loop's thread between two ticks of a timer: unlike wall-clock time, that does not include other load on the machine.
// Only Linux reports that time; elsewhere the wall-clock delay is written.

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const path = process.env.LOOP_HOLDS_FILE
if (path !== undefined && isMainThread) {
  let last = computedMs()
  let longestMs = 0
  let writtenMs = -1
  let isReady = false
  setInterval(() => {
    const now = computedMs()
    // The start is one long block, before anything is served: the test says when to measure.
    longestMs = isReady ? Math.max(longestMs, now - last) : 0
    isReady ||= isAsked()
    if (isReady && longestMs !== writtenMs) {
      writeFileSync(`${path}.new`, String(longestMs))
      renameSync(`${path}.new`, path)
      writtenMs = longestMs
    }
    last = computedMs()
  }, 5).unref()
}

function isAsked() {
  try {
    return readFileSync(path, 'utf8') === 'begin'
  } catch {
    return false
  }
}

function computedMs() {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return performance.now()
  }
}
