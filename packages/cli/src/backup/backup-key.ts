import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { PermanentError } from '@heddle/contracts'
import type { CommandContext } from '../connect/context.js'
import { fileError } from '../importing/read-file.js'

const CHARACTERS_MIN = 16

/**
 * The key of a backup: of a file, or of the environment. Never of the command line, which other users of the machine see, and which
 * shells keep.
 *
 * @returns null without a key
 */
export async function readBackupKey(
  { env, cwd }: Pick<CommandContext, 'env' | 'cwd'>,
  keyFile: string | undefined,
): Promise<string | null> {
  const given = keyFile === undefined ? env['HEDDLE_BACKUP_KEY'] : await readKeyFile(resolve(cwd, keyFile), keyFile)
  const key = given?.trim() ?? ''
  if (key === '' && keyFile === undefined) return null
  if (key.length >= CHARACTERS_MIN) return key
  throw new PermanentError('VALIDATION_ERROR', `the key must have at least ${CHARACTERS_MIN} characters`, {
    field: keyFile === undefined ? 'HEDDLE_BACKUP_KEY' : 'key-file',
    received: `${key.length} characters`,
    hint: 'Make one with: openssl rand -base64 32',
  })
}

async function readKeyFile(path: string, received: string): Promise<string> {
  return await readFile(path, 'utf8').catch((error: unknown) =>
    Promise.reject(fileError(path, error, { field: 'key-file', received })),
  )
}
