import { between, type ContentShapes, nested, repeated } from './grow.js'

const DELIMITERS = {
  'double-quotes': '"',
  'single-quotes': "'",
  'curly-quotes': '“',
  backticks: '`',
  pipes: '|',
  dashes: '-',
  underscores: '_',
  equals: '=',
  hashes: '#',
  stars: '*',
  tildes: '~',
  pluses: '+',
  slashes: '/',
  backslashes: '\\',
  dots: '.',
  colons: ':',
  semicolons: ';',
  commas: ',',
  ats: '@',
  dollars: '$',
  ampersands: '&',
  percents: '%',
  'question-marks': '?',
  'exclamation-marks': '!',
  carets: '^',
} as const

const delimiterShapes = Object.entries(DELIMITERS).flatMap(([name, delimiter]) => [
  [name, repeated(delimiter)] as const,
  // Without a letter between them, an expression may end early; with one, it may start again at each.
  [`${name}-between-letters`, repeated(`a${delimiter}`)] as const,
  [`${name}-between-spaces`, repeated(`${delimiter} `)] as const,
  [`${name}-a-line`, repeated(`${delimiter}\n`)] as const,
])

const BRACKETS = { parentheses: '()', 'square-brackets': '[]', braces: '{}', 'angle-brackets': '<>' } as const

const bracketShapes = Object.entries(BRACKETS).flatMap(([name, brackets]) => {
  const [open, close] = [brackets.charAt(0), brackets.charAt(1)]
  return [
    [`${name}-opened`, repeated(open)] as const,
    [`${name}-closed`, repeated(close)] as const,
    [`${name}-nested`, nested(open, close)] as const,
    [`${name}-in-pairs`, repeated(brackets)] as const,
    [`${name}-opened-after-words`, repeated(`word${open}`)] as const,
  ]
})

/** Delimiters again and again, brackets that nest or never close, and nothing but spaces. */
export const delimiterContents: ContentShapes = {
  ...Object.fromEntries(delimiterShapes),
  ...Object.fromEntries(bracketShapes),
  'nested-json-arrays': nested('[', ']', '1'),
  'nested-json-objects': nested('{"a":', '}', '1'),
  'json-objects-opened': repeated('{"a":'),
  'json-strings-of-quotes': between('"', repeated('\\"'), '"'),
  'markdown-links-opened': repeated('[a]('),
  'markdown-links': repeated('[a](b) '),
  'markdown-emphasis': repeated('**a** _b_ '),
  'recall-marks-opened': repeated('[recall:'),
  spaces: repeated(' '),
  tabs: repeated('\t'),
  newlines: repeated('\n'),
  'carriage-returns': repeated('\r'),
  'newlines-of-windows': repeated('\r\n'),
  'lines-of-spaces': repeated(' \n'),
  'spaces-then-a-letter': (bytes) => `${' '.repeat(Math.max(0, bytes - 1))}x`,
  'letter-then-spaces': (bytes) => `x${' '.repeat(Math.max(0, bytes - 1))}`,
  'words-far-apart': repeated(`word${' '.repeat(500)}`),
  'no-break-spaces': repeated('\u00a0'),
  'line-separators': repeated('\u2028'),
}
