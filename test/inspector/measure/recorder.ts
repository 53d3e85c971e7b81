/*
 * Runs in the page, as text, because the types of this repository are those of Node. `firstRow` resolves with the
 * milliseconds from the start of the navigation to the frame that shows the first row; a frame is blank while a part of the
 * list's visible area has no row.
 */
export const RECORDER = `
const BLANK_PIXELS = 24
const recorder = { rowSelector: 'none', firstRow: null, isRecording: false, longestFrameMs: 0, longestBlankMs: 0, frames: 0 }
window.recorder = recorder
let lastMs = null
let paint
recorder.firstRow = new Promise((resolve) => { paint = resolve })
let blankSinceMs = null
function blankPixels() {
  const frame = document.querySelector('.frame')
  if (frame === null) return Infinity
  const { top, bottom } = frame.getBoundingClientRect()
  const rows = [...frame.querySelectorAll('.virtual > li')].map((row) => row.getBoundingClientRect())
    .filter((row) => row.bottom > top && row.top < bottom).sort((one, other) => one.top - other.top)
  const end = Math.min(bottom, top + frame.clientHeight)
  let covered = top
  let blank = 0
  for (const row of rows) {
    blank += Math.max(0, Math.min(row.top, end) - covered)
    covered = Math.max(covered, row.bottom)
  }
  return blank + Math.max(0, end - covered)
}
function onFrame(nowMs) {
  if (paint !== undefined && document.querySelector(recorder.rowSelector) !== null) {
    // Two frames later the row is painted.
    const resolve = paint
    paint = undefined
    requestAnimationFrame(() => requestAnimationFrame(resolve))
  }
  if (recorder.isRecording) {
    recorder.frames++
    if (lastMs !== null) recorder.longestFrameMs = Math.max(recorder.longestFrameMs, nowMs - lastMs)
    if (blankPixels() > BLANK_PIXELS) blankSinceMs ??= lastMs ?? nowMs
    else if (blankSinceMs !== null) {
      recorder.longestBlankMs = Math.max(recorder.longestBlankMs, nowMs - blankSinceMs)
      blankSinceMs = null
    }
    lastMs = nowMs
  }
  requestAnimationFrame(onFrame)
}
requestAnimationFrame(onFrame)
`
