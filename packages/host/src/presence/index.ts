export { findUp, type RunningUp } from '@heddle/client/connect'
export { announceUp, withdrawUp } from './presence.js'
export { requireServer } from './require-server.js'
export { FOLDER_WORD_MS_MAX, untilUp, WORD_MS_MAX } from './up-elsewhere.js'
