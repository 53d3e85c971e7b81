const numbers = new Intl.NumberFormat('en')
const times = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

export const figure = (value: number) => numbers.format(value)

/** In the reader's zone. */
export const timeText = (iso: string | null | undefined) => (iso ? times.format(new Date(iso)) : 'never')

/** `240 ms`, `3.2 s`, `5 min` */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${figure(Math.round(ms))} ms`
  return ms < 120_000 ? `${(ms / 1_000).toFixed(1)} s` : `${figure(Math.round(ms / 60_000))} min`
}

export const counted = (count: number, one: string, many = `${one}s`) => `${figure(count)} ${count === 1 ? one : many}`

/** Control characters, halves of characters, and marks that reverse the direction of a text. */
const UNSEEN = /(?![\t\n\r])\p{Cc}|\p{Cs}|\p{Bidi_Control}/gu

/** A text in which terminal escapes and reversing marks are shown, and have no effect. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
