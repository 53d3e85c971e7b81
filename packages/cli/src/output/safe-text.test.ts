import { expect, test } from 'vitest'
import { safeLine, safeText } from './safe-text.js'

test('characters that reorder or hide text or move the cursor are escaped; emoji keep their joiners', () => {
  expect(safeText('user\u202etxt.exe')).toBe('user\\u{202e}txt.exe')
  expect(safeText('a\u2066b\u2069\ufeff\u{e0041}')).toBe('a\\u{2066}b\\u{2069}\\u{feff}\\u{e0041}')
  expect(safeText('\u001b]0;title\u0007\u009b2J')).toBe('\\x1b]0;title\\x07\\x9b2J')
  expect(safeText('one\r\n\ttwo 👩\u200d💻')).toBe('one\n\ttwo 👩\u200d💻')
})

test('of the escape sequences in a line only colours reach the terminal', () => {
  expect(safeLine('\u001b[32mok\u001b[39m \u001b[2J\u202e')).toBe('\u001b[32mok\u001b[39m \\x1b[2J\\u{202e}')
})
