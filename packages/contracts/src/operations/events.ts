import { eventsQuerySchema, httpEventSchema } from '../http/events.js'
import { operation } from './operation.js'

export const eventOperations = {
  followEvents: operation({
    method: 'GET',
    path: '/v1/events',
    tag: 'events',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'Events of the project, as server-sent events',
    description:
      'Each event has its number as `id` and its topic as `event`. A client that reconnects with `Last-Event-ID` (a browser does so by itself) receives the missed events, each once and in order. Without it the stream begins with the next event.',
    query: eventsQuerySchema,
    headers: { 'Last-Event-ID': 'The number of the last event that the caller has received.' },
    answers: {
      200: {
        description: 'The stream. `data` is one event as JSON.',
        schema: httpEventSchema,
        mediaType: 'text/event-stream',
      },
    },
  }),
}
