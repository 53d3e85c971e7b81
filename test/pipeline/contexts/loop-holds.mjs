// Loaded before `heddle up` in the test that looks at how long its event loop is held. It writes down the longest time that
// the loop's own thread computed between two turns of a timer: how busy the machine is does not count, as it would in what a
// clock on the wall shows. That time is told by Linux alone; elsewhere the delay by the wall's clock is written down.

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
    // To start takes one long turn, before anything is served: the test says when it looks.
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
