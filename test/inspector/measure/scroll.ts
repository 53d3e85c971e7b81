import type { Page } from 'playwright-core'

const SECONDS = 12
const WHEEL_PIXELS = 700
const WHEEL_EVERY_MS = 16
const KEYS = ['PageDown', 'PageDown', 'PageUp', 'End', 'PageUp', 'Home', 'PageDown', 'End', 'Home']
const KEY_EVERY_MS = 250

/** Scrolls the list of a screen with the wheel, faster than one can read, then with the keys. */
export async function scroll(page: Page): Promise<{ longestFrameMs: number; longestBlankMs: number }> {
  const list = page.locator('.frame').first()
  await list.hover()
  await page.evaluate('recorder.isRecording = true')
  const untilMs = Date.now() + SECONDS * 1_000
  while (Date.now() < untilMs) {
    await page.mouse.wheel(0, WHEEL_PIXELS)
    await page.waitForTimeout(WHEEL_EVERY_MS)
  }
  await list.focus()
  for (const key of KEYS) {
    await page.keyboard.press(key)
    await page.waitForTimeout(KEY_EVERY_MS)
  }
  return (await page.evaluate('(recorder.isRecording = false, recorder)')) as {
    longestFrameMs: number
    longestBlankMs: number
  }
}
