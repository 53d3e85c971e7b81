import { z } from 'zod'

/** Changes that a request to a provider may get: none, shortened results, or besides them a summary in place of its history. */
export const proxyModes = ['observe', 'stub', 'compact'] as const
export const proxyModeSchema = z.enum(proxyModes, { error: `must be one of ${proxyModes.join(', ')}` })
export type ProxyMode = z.infer<typeof proxyModeSchema>

/** The places where the mode of a request may be chosen; earlier ones go before later ones. */
export const proxyModeSources = ['header', 'key', 'thread', 'agent', 'configuration'] as const
export type ProxyModeSource = (typeof proxyModeSources)[number]
