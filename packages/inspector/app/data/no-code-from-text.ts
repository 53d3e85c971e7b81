import { config } from 'zod'

/** The content policy forbids code made from text, which schemas otherwise try as soon as they are created. */
config({ jitless: true })
