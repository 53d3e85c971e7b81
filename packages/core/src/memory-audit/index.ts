export { type AuditedMessage, type AuditFindings, auditMessages } from './audit.js'
