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
    summary: 'A thread with its archive, compactions and prunings, as lossless JSON lines',
    description:
      'It is read from the store page by page while it is sent. The last line is `{"type":"end","records":N}`: an answer without it was truncated.',
    params: threadParamsSchema,
    answers: {
      200: { description: 'One record per line.', schema: exportedRecordSchema, mediaType: LINES_MEDIA_TYPE },
    },
  }),
  importThread: operation({
    method: 'POST',
    path: '/v1/threads',
    tag: 'threads',
    needs: 'admin',
    repeat: 'idempotent',
    summary: 'Import an exported thread, byte for byte',
    description:
      'Everything is checked before anything is stored. Importing it again adds nothing, and continues an interrupted import. A larger file is imported on the machine of the store: `heddle threads import`.',
    query: importQuerySchema,
    body: exportedLinesSchema,
    bodyMediaType: LINES_MEDIA_TYPE,
    bodyBytesMax: limits.httpBodyBytesMax,
    answers: { 200: { description: 'The added rows.', schema: importedThreadSchema } },
  }),
}
