import { hash } from 'node:crypto'
import { nameSchema } from '@heddle/contracts'

const CHARACTERS_MAX = 100
const HASH_CHARACTERS = 12

/**
 * The part of a thread's name that a conversation's name gives: itself, or its beginning and a hash if it is long or has
 * characters that no name may have.
 */
export function threadSuffix(conversation: string): string {
  if (conversation.length <= CHARACTERS_MAX && nameSchema.safeParse(conversation).success) return conversation
  const beginning = conversation
    .slice(0, CHARACTERS_MAX - HASH_CHARACTERS - 1)
    .toWellFormed()
    .replace(/[\p{C}\p{Z}]/gu, '_')
  return `${beginning}-${hash('sha256', conversation, 'hex').slice(0, HASH_CHARACTERS)}`
}
