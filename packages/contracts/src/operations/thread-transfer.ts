import {
  exportedLinesSchema,
  exportedRecordSchema,
  importedThreadSchema,
  importQuerySchema,
  LINES_MEDIA_TYPE,
} from '../http/thread-transfer.js'
import { threadParamsSchema } from '../http/threads.js'
import { limits } from '../primitives/limits.js'
import { operation } from './operation.js'

export const threadTransferOperations = {
  exportThread: operation({
    method: 'GET',
    path: '/v1/threads/:thread/export',
    tag: 'threads',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'A thread with its archive, compactions and prunings, as JSON lines that lose nothing',
    description:
      'It is read from the store page by page while it is sent. The last line is `{"type":"end","records":N}`: an answer without it was cut short.',
    params: threadParamsSchema,
    answers: {
      200: { description: 'One record a line.', schema: exportedRecordSchema, mediaType: LINES_MEDIA_TYPE },
    },
  }),
  importThread: operation({
    method: 'POST',
    path: '/v1/threads',
    tag: 'threads',
    needs: 'admin',
    repeat: 'idempotent',
    summary: 'Bring an exported thread back, to the byte',
    description:
      'All of it is checked before anything is stored. Importing it again adds nothing, and an import that was cut short goes on. A larger file is imported where the store is: `heddle threads import`.',
    query: importQuerySchema,
    body: exportedLinesSchema,
    bodyMediaType: LINES_MEDIA_TYPE,
    bodyBytesMax: limits.httpBodyBytesMax,
    answers: { 200: { description: 'What was added.', schema: importedThreadSchema } },
  }),
}
