export { ARTIFACTS_MAX, type Artifact, isFailing, type Ledger } from './artifact.js'
export { extendLedger, type LedgerRange } from './extend.js'
export {
  type ContextLedger,
  type LedgerShown,
  ledgerLimit,
  ledgerLocation,
  recalledLedger,
  showLedger,
} from './show.js'
