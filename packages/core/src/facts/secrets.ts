import { redactSecrets } from '../summarizing/redact.js'

/** The name of a secret with its value in plain words, as people say it: "my pin is 9921", "using password hunter2". */
const SAID_SECRET = new RegExp(
  `\\b(?:${[
    'pass(?:word|wd|phrase|code)s?',
    'pin(?: code| number)?',
    '(?:secret|api|access|wi-?fi|encryption|private|recovery|signing|licen[cs]e) (?:key|code|answer|token)s?',
    '(?:credit|debit) ?cards?(?: number)?',
    'card number',
    'cvv|cvc|ssn|iban|token',
    'social security number',
    'account number',
  ].join('|')})\\s{1,3}(?:(?:is|are|was|to|of|=|:)\\s|\\S{0,60}\\d)`,
  'i',
)

/** Whether a text holds a secret, by its shape or by its name. In doubt it does: a fact less is no loss, a secret kept is one. */
export function holdsSecret(text: string): boolean {
  return redactSecrets(text) !== text || SAID_SECRET.test(text)
}
