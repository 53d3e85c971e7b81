export { findUp, type RunningUp } from '@heddle/client/connect'
export { announceUp, withdrawUp } from './presence.js'
export { requireServer } from './require-server.js'
export { FOLDER_GRACE_MS, PORT_GRACE_MS, untilUp } from './up-elsewhere.js'
