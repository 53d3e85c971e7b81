import { type ContentShapes, letters, picked, pieces, repeated, scattered } from './grow.js'

const HAN =
  '的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生自会那后能对着事其里所去行过家十用发天如然作方成者多日都三小军二无同么经法当起与好看学进种将还分此心前面又定见只主没公从'
const THAI = 'กขคงจฉชซญดตถทธนบปผพฟภมยรลวศสหอฮะาิีึืุูเแโใไ่้'
const KANA =
  'あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをんアイウエオカキクケコ漢字日本語'
const HANGUL = '가나다라마바사아자차카타파하한국어말글씨이그저것수있없하되'
const ARABIC = 'ابتثجحخدذرزسشصضطظعغفقكلمنهوي'
const WORDS =
  'the agent reads a file and finds that the queue was empty when the worker began so it waits for the next job'.split(
    ' ',
  )
const WORDS_IN_SENTENCE = 12
const LATIN = 'abcdefghijklmnopqrstuvwxyz'

/** Words and scripts: with spaces and without, with ends of sentences and without. */
export const scriptShapes: ContentShapes = {
  chinese: pieces((number) => picked(HAN, number)),
  'chinese-sentences': pieces((number) => picked(HAN, number) + (number % 20 === 19 ? '。' : '')),
  thai: pieces((number) => picked(THAI, number)),
  japanese: pieces((number) => picked(KANA, number)),
  korean: pieces((number) => picked(HANGUL, number) + (number % 4 === 3 ? ' ' : '')),
  arabic: pieces((number) => picked(ARABIC, number) + (number % 6 === 5 ? ' ' : '')),
  'emoji-joined': repeated('👩‍👩‍👧‍👦'),
  emoji: pieces((number) => String.fromCodePoint(0x1f600 + (scattered(number) % 80))),
  'combining-marks': repeated('e\u0301\u0323\u0302'),
  'combining-marks-alone': repeated('\u0301'),
  'one-line-of-words': pieces((number) => `${WORDS[scattered(number) % WORDS.length]} `),
  'one-word': repeated('x'),
  'distinct-words': pieces((number) => `${letters(LATIN, 8, number)} `),
  'distinct-words-a-line': pieces((number) => `${letters(LATIN, 8, number)}\n`),
  'camel-case': pieces((number) => `${letters(LATIN, 5, number)}Get`),
  'snake-case': pieces((number) => `${letters(LATIN, 5, number)}_`),
  sentences: pieces((number) => sentenceWord(number)),
  'short-sentences': pieces((number) => `Do ${WORDS[scattered(number) % WORDS.length]}. `),
  requests: pieces(
    (number) =>
      `Please never rename ${letters(LATIN, 6, number)}, and always keep src/${letters(LATIN, 4, number)}.ts as it is!\n`,
  ),
  'words-without-capitals-or-ends': pieces((number) => `${WORDS[number % WORDS.length]}, `),
  numbers: pieces((number) => `${scattered(number)} `),
  digits: repeated('1234567890'),
  'decimal-numbers': pieces((number) => `${scattered(number) / 1000},`),
  capitals: pieces((number) => `${letters(LATIN, 6, number).toUpperCase()} `),
}

function sentenceWord(number: number): string {
  const word = WORDS[scattered(number) % WORDS.length] as string
  if (number % WORDS_IN_SENTENCE === 0) return word.charAt(0).toUpperCase() + word.slice(1)
  return number % WORDS_IN_SENTENCE === WORDS_IN_SENTENCE - 1 ? ` ${word}. ` : ` ${word}`
}
