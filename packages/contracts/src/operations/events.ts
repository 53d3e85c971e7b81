import { eventsQuerySchema, httpEventSchema } from '../http/events.js'
import { operation } from './operation.js'

export const eventOperations = {
  followEvents: operation({
    method: 'GET',
    path: '/v1/events',
    tag: 'events',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'What happens in the project, as server-sent events',
    description:
      'Each event has its number as `id` and its topic as `event`. Who comes again with `Last-Event-ID` (a browser does so by itself) gets what happened meanwhile, each event once and in order. Without it the stream begins with what happens next.',
    query: eventsQuerySchema,
    headers: { 'Last-Event-ID': 'The number of the last event that the caller has seen.' },
    answers: {
      200: {
        description: 'The stream. `data` is one event as JSON.',
        schema: httpEventSchema,
        mediaType: 'text/event-stream',
      },
    },
  }),
}
