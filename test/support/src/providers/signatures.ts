import { createHash } from 'node:crypto'

/**
 * The opaque parts that a provider hands out and verifies when it gets them again. Here they are hashes of the content, so that a
 * changed part is recognized without a memory of what was sent.
 */
export function signatureOf(thinking: string): string {
  return sealed(`thinking ${thinking}`)
}

/** `encrypted_content` of a reasoning item, by its id. */
export function encryptedContentOf(id: string): string {
  return sealed(`reasoning ${id}`)
}

function sealed(text: string): string {
  return createHash('sha512').update(text).digest('base64')
}
