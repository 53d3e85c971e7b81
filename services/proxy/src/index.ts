export type {
  KnownState,
  NewState,
  ProxyBackend,
  RelayedRequest,
  SavedState,
  StatePlace,
  StateStore,
} from './backend.js'
export type { Door, Entry, EntryRefusal } from './door.js'
export { createProxy, type ProviderProxy, type ProxyOptions } from './proxy.js'
export type { UpstreamConfig, UpstreamProtocol } from './routes/upstreams.js'
