import { resolve } from 'node:path'
import { PermanentError, type RecallResult } from '@heddle/contracts'
import type { CommandContext } from '../../connect/context.js'
import { safeText } from '../../output/safe-text.js'
import { formatCount } from '../../output/table.js'
import { writeWholeFile } from '../../output/whole-file.js'

/** Writes what was recalled into a file: the bytes of an image or a file, else the text. */
export async function writeRecalled(context: CommandContext, out: string, recalled: RecallResult): Promise<void> {
  const { part, content, ref } = recalled
  const address = part?.url ?? part?.fileId
  if (address !== undefined) {
    throw new PermanentError('VALIDATION_ERROR', `out: there are no bytes: the message names ${address}`, {
      field: 'out',
      received: out,
      hint: 'Recall it without --out, which shows the address. Heddle opens none.',
    })
  }
  const bytes = part?.data === undefined ? Buffer.from(content) : Buffer.from(part.data, 'base64')
  const path = resolve(context.cwd, out)
  await writeWholeFile(path, [bytes], context.signal)
  const written = { ref, file: path, bytes: bytes.length, ...(part !== undefined && { mediaType: part.mediaType }) }
  context.printer.result(written, () => [`${formatCount(bytes.length)} bytes of ${safeText(ref)} in ${safeText(out)}`])
}
